import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix } from '../words/arg.ts';
import { allOf, refuseOptions, shellOptions } from './effects.ts';
import {
  optionValues,
  plugins,
  refused,
  type Sub,
  startOptions,
  subcommands,
  writesBelow,
} from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

const ghPlugins = plugins(
  `accessibility agent-task alias api attestation auth browse cache ci co codespace completion config copilot cs duo extension
  ext extensions gist gpg-key help incident issue label licenses mr org pr preview project release repo rs ruleset run runner
  schedule search secret snippet ssh-key status token user variable version workflow
  branch checkout cherry-pick clone compare create delete fork pull-request push remote submodule sync update-branch`,
);

/** Version control besides git (`hg`, `svn`), and command lines of hosting services (`gh`, `glab`). */
export const versionControlPrograms: readonly ProgramEntry[] = [
  {
    names: ['hg', 'chg', 'sl'],
    options: {
      short: 'R:e:p:o:c:m:r:u:I:X:yqvgbl:d:',
      long: 'config= repository= cwd= ssh= remotecmd= debugger program= option= command= extension= message= rev= user= include= exclude= pager= template= noninteractive quiet verbose help version debug profile',
    },
    effects: hgEffects,
    runs: [
      ["hg --config alias.x='!touch x' x", 'touch'],
      "hg --config hooks.pre-status='touch x' status",
      'hg --config extensions.x=./x.py status',
      'hg --config=ui.editor=touch commit',
      ["hg clone -e 'touch x' ssh://h/r", 'touch'],
      ['hg pull --ssh=touch', 'touch'],
      ['hg extdiff -p touch', 'touch'],
      ["hg bisect --command 'touch x'", 'touch'],
      'hg --config "$x" status',
      'hg --debugger status',
    ],
    harmless: [
      'hg status',
      "hg commit -m 'a; touch x'",
      'hg --config ui.username=me log',
      'hg log -r tip',
      'hg --config diff.git=true diff',
      'hg clone https://x/r',
    ],
  },
  {
    names: ['svn', 'svnadmin', 'svnlook', 'svnsync'],
    options: {
      short: 'm:F:r:x:c:N:qv',
      long: 'diff-cmd= diff3-cmd= editor-cmd= config-option= config-dir= extensions= message= file= revision= username= password= non-interactive depth= force quiet verbose xml trust-server-cert',
    },
    effects: (call) => [
      ...startOptions('diff-cmd', 'diff3-cmd')(call),
      ...shellOptions('editor-cmd')(call),
      ...call.options
        .values('config-option')
        .filter(({ text }) => /tunnels|-cmd|helpers|config:/.test(text ?? 'tunnels'))
        .map((at) => refused(call, '--config-option may name a program', at)),
      ...refuseOptions({ 'config-dir': 'takes settings that may run programs' })(call),
      ...call.args
        .filter((arg) => /^svn\+(?!ssh:)/.test(prefixOf(arg)))
        .map((at) => refused(call, 'would start a tunnel program', at)),
    ],
    runs: [
      ['svn diff --diff-cmd touch', 'touch'],
      ['svn diff --diff-cmd=touch', 'touch'],
      ["svn ci --editor-cmd 'touch x'", 'touch'],
      'svn up --config-option config:tunnels:x=touch',
      'svn ls --config-dir ./x url',
      'svn ls svn+evil://host/r',
      ['svn merge --diff3-cmd=touch a b', 'touch'],
    ],
    harmless: ["svn ci -m 'x; touch y'", 'svn up', 'svn diff -x -w', 'svn co https://x/r', 'svn log -l 5'],
  },
  {
    names: ['gh', 'glab', 'hub'],
    options: { short: 'R:', long: 'repo= help version', stop: true },
    effects: allOf(
      ghPlugins,
      subcommands({
        alias: { options: { short: 's', long: 'shell clobber', stop: false }, effects: aliasEffects },
        'extension ext extensions': {
          effects: (call) =>
            /^(?:install|exec|create|upgrade)$/.test(call.options.operands[0]?.text ?? '')
              ? [refused(call, 'extension runs or installs code')]
              : [],
        },
        config: { effects: configEffects },
        'codespace cs': codespace(),
        'repo pr': { options: { stop: false }, effects: gitFlags },
        'release run': { effects: downloads },
      }),
    ),
    runs: [
      ["gh alias set x '!touch x'", 'touch'],
      ["gh alias set --shell x 'touch x'", 'touch'],
      'gh alias import x.yml',
      'gh extension install o/x',
      ["gh config set pager 'touch x'", 'touch'],
      ['gh config set editor touch', 'touch'],
      ["gh config set browser 'touch x'", 'touch'],
      'gh repo clone o/x -- -c core.sshCommand=touch',
      'gh extension exec x',
      'gh release download -D .git/hooks',
      'gh release download v1 -O .envrc',
      ['gh some-new-extension', 'gh-some-new-extension'],
      ['gh cs ssh -- touch x', 'touch'],
    ],
    harmless: [
      'gh pr list',
      'gh release download -D dist -p "*.tgz"',
      'gh api repos/o/r/issues',
      "gh pr create -t 'x; touch y' -b body",
      'gh repo clone o/x',
      'gh alias list',
      "gh alias set co 'pr checkout'",
      'gh config get pager',
      'gh run view --log',
      'gh config set prompt disabled',
      'gh repo clone o/x -- --depth=1',
    ],
  },
  {
    names: ['jj'],
    options: { short: 'R:', long: 'config= config-file= config-toml= tool= repository= editor', stop: false },
    effects: (call) => {
      const mark = call.args.findIndex((arg) => arg.text === '--');
      const runs = call.args[0]?.text === 'util' && call.args[1]?.text === 'exec';
      const set =
        call.args[0]?.text === 'config' &&
        /^(?:set|edit)$/.test(call.args[1]?.text ?? '') &&
        !/^user\./.test(call.args.find(({ text }) => /\w\.\w/.test(text ?? ''))?.text ?? '');
      return [
        ...refuseOptions({
          config: 'may name a program',
          'config-file': 'may name a program',
          'config-toml': 'may name a program',
          tool: 'chooses a program',
        })(call),
        ...(runs ? [{ does: 'start', argv: call.args.slice(mark < 0 ? 2 : mark + 1) } as const] : []),
        ...(set ? [refused(call, 'config may name a program')] : []),
      ];
    },
    runs: [
      ['jj util exec -- touch x', 'touch'],
      'jj --config ui.pager=touch log',
      'jj config set --user ui.editor touch',
    ],
    harmless: ['jj log', 'jj config set --user user.name me'],
  },
];

const hgDoors =
  /^(?:alias\.|hooks\.|extensions\.|extdiff\.|merge-tools\.|pager\.|ui\.(?:editor|ssh|merge|remotecmd|askusername|patch|formatted|tweakdefaults)|diff-tools\.|auth\.|web\.|email\.|share\.|fix\.|templates|defaults\.|encode\.|decode\.|schemes\.|trusted\.|chgserver\.|factotum\.|convert\.|hostsecurity)/i;

function hgEffects(call: ProgramCall): Effect[] {
  const settings = call.options.values('config').flatMap((setting): Effect[] => {
    const key = /^[^=]*=/.exec(prefixOf(setting))?.[0];
    if (key === undefined) return [refused(call, '--config may name a program', setting)];
    const value = withoutPrefix(setting, key.length);
    if (/^alias\./i.test(key)) return aliasValue(call, value);
    return hgDoors.test(key) ? [refused(call, `--config ${key} chooses code that runs`, setting)] : [];
  });
  const extdiff = call.options.operands.some(({ text }) => text === 'extdiff');
  const bisect = call.options.operands.some(({ text }) => text === 'bisect');
  return [
    ...settings,
    ...startOptions('e', 'ssh', 'remotecmd')(call),
    ...(extdiff ? startOptions('p', 'program')(call) : []),
    ...(bisect ? shellOptions('c', 'command')(call) : []),
    ...refuseOptions({ debugger: 'starts a debugger' })(call),
  ];
}

/** An alias that starts with `!` is shell text. */
function aliasValue(call: ProgramCall, value: Arg | undefined): Effect[] {
  if (value?.text === undefined) return [refused(call, 'alias may run a program', value)];
  return value.text.startsWith('!') ? [{ does: 'shell', text: knownArg(value.text.slice(1), value) }] : [];
}

function aliasEffects(call: ProgramCall): Effect[] {
  const [action, , value] = call.options.operands;
  if (action?.text === 'import') return [refused(call, 'alias import reads commands from a file')];
  if (action?.text !== 'set') return [];
  return call.options.has('s', 'shell') && value !== undefined
    ? [{ does: 'shell', text: value }]
    : aliasValue(call, value ?? knownArg('', call.self));
}

function configEffects(call: ProgramCall): Effect[] {
  const [action, key, value] = call.options.operands;
  return action?.text === 'set' &&
    /^(?:pager|editor|browser|http_unix_socket)$/.test(key?.text ?? 'pager') &&
    value !== undefined
    ? [{ does: 'shell', text: value }]
    : [];
}

function codespace(): Sub {
  return {
    effects: (call) => {
      const mark = call.args.findIndex((arg) => arg.text === '--');
      return call.args[0]?.text === 'ssh' && mark >= 0
        ? [{ does: 'start', argv: call.args.slice(mark + 1) }]
        : [];
    },
  };
}

/** Words after `--` are passed to git. */
/** `gh release download` and `gh run download` write files. */
function downloads({ args }: ProgramCall): Effect[] {
  if (args[0]?.text !== 'download') return [];
  return [
    ...optionValues(args, /^(?:-D|--dir)$/).flatMap(writesBelow),
    ...optionValues(args, /^(?:-O|--output)$/)
      .filter(({ text }) => text !== '-')
      .map((path): Effect => ({ does: 'write', path })),
  ];
}

function gitFlags(call: ProgramCall): Effect[] {
  const mark = call.args.findIndex((arg) => arg.text === '--');
  const flags = mark < 0 ? [] : call.args.slice(mark + 1);
  return flags
    .filter((arg) => /^(?:-c|--config|-u|--upload-pack|--template)/.test(prefixOf(arg)))
    .map((at) => refused(call, 'gives git a setting that may run programs', at));
}
