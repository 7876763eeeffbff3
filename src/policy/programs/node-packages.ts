import { noOptions } from '../options/grammar.ts';
import { parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, withoutPrefix, wordText } from '../words/arg.ts';
import { joinWords, refuseOptions, shellOptions, unclearStart } from './effects.ts';
import { withoutVersion } from './env-runners.ts';
import { refused, type Sub } from './option-effects.ts';
import type { Effect, ProgramEntry } from './program.ts';

const npmLongs =
  'prefix= workspace= workspaces include-workspace-root global silent loglevel= json yes no package= call= script-shell= node-options= git= editor= viewer= browser= userconfig= globalconfig= init-module= registry= tag= access= otp= save-dev save-exact save-optional save-peer production omit= include= ignore-scripts legacy-peer-deps force dry-run no-audit no-fund if-present parseable depth= location= cache= offline prefer-offline quiet version help foreground-scripts shell= python= node-gyp= onload-script= install-links';

/** `npm`, `pnpm`, `yarn` and `npx`: they may run the project's scripts, but not other programs. */
export const nodePackagePrograms: readonly ProgramEntry[] = [
  {
    names: ['npm', 'cnpm'],
    options: { short: 'C:w:gsdyDEOPBfLlpn:m:hvqc:', long: npmLongs },
    effects: (call) => [
      ...npmSettings(call),
      ...npmCommandEffects(call),
      ...runEnv(call),
      ...nestedOptions(call),
    ],
    runs: [
      ['npm exec -- touch x', 'touch'],
      ['npm exec touch x', 'touch'],
      ['npm x -y touch x', 'touch'],
      ["npm exec -c 'touch x'", 'touch'],
      ["npm x --call='touch x'", 'touch'],
      ['npm exec --package=x -- touch', 'touch'],
      'npm config set script-shell ./x',
      'npm config set script-shell=./x',
      'npm set script-shell=./x',
      'npm c set node-options=--require=./x',
      'npm run build --script-shell=./x',
      'npm --script-shell ./x test',
      'npm install --node-options="--require ./x"',
      'npm config edit',
      'npm edit lodash',
      ['npm explore lodash -- touch x', 'touch'],
      ['npm init foo', 'create-foo'],
      'npm --userconfig=./npmrc ci',
      ["npm pkg set scripts.a='touch x'", 'touch'],
      ['npm exe -- touch x', 'touch'],
      ['npm exe touch x', 'touch'],
      ["npm --call='touch x' exec", 'touch'],
      'npm run build --script-she=./x',
      'npm --python=./x install',
      'npm some-new-command',
      'npm -script-shell=./x test',
      'npm ---node-options=-r=./x test',
      'npm init --init.module=./x',
      ["npm -c 'touch x' exec", 'touch'],
      'npm run env -- touch x',
    ],
    harmless: [
      'npm ci',
      'npm run lint -- --fix',
      'npm test',
      'npm install -D typescript',
      'npm --prefix web run build',
      'npm init -y',
      'npm config get registry',
      'npm config set registry https://example.com',
      'npm view react version',
      'npm run build --if-present -w web',
      'npm pkg set version=1.2.3',
      'npm run start -- --script-shell=x',
      'npm outdated --json',
      'npm init -w packages/a -y',
      'npm inst',
      'npm version patch --no-git-tag-version',
    ],
  },
  {
    names: ['npx', 'pnpx', 'bunx'],
    options: {
      short: 'yp:c:w:qn:hv',
      long: 'yes no package= call= workspace= workspaces include-workspace-root quiet no-install ignore-existing prefer-offline offline registry= node-options= node-arg= script-shell= shell= shell-mode bun silent verbose prefix= legacy-peer-deps userconfig= cache= loglevel= help version',
      stop: true,
    },
    effects: (call) => [...npmSettings(call), ...packageRun(call)],
    runs: [
      ['npx touch x', 'touch'],
      ['npx -y touch@latest x', 'touch'],
      ['npx --yes -p foo touch x', 'touch'],
      ["npx -c 'touch x'", 'touch'],
      ["npx --package=x --call 'touch x'", 'touch'],
      ['bunx touch x', 'touch'],
      'npx $x',
      'npx github:evil/x',
      'npx ./evil',
      'npx @evil/ls',
      'npx --node-options=--require=./x tsc',
    ],
    harmless: [
      'npx --version',
      ['npx tsc --noEmit', 'tsc'],
      ['npx --no-install eslint .', 'eslint'],
      ['npx prettier@3 --write .', 'prettier'],
      ['npx jest --config jest.config.js', 'jest'],
      ['npx playwright test --browser=chromium', 'playwright'],
    ],
  },
  {
    names: ['pnpm', 'yarn', 'yarnpkg'],
    options: {
      short: 'C:F:rwsch',
      long: 'dir= filter= recursive workspace-root silent parallel stream aggregate-output color no-color cwd= workspace-concurrency= reporter= script-shell= use-node-version= use-yarnrc= shell-mode if-present prod dev frozen-lockfile immutable version help',
    },
    effects: (call) => [...npmSettings(call), ...runnerEffects(call)],
    runs: [
      ['pnpm dlx touch x', 'touch'],
      ['pnpm exec touch x', 'touch'],
      ["pnpm -c exec 'touch x'", 'touch'],
      ['pnpm -r exec touch x', 'touch'],
      ['pnpm --filter web exec -- touch x', 'touch'],
      ['yarn dlx touch x', 'touch'],
      ['yarn exec touch x', 'touch'],
      ['yarn workspaces foreach -A exec touch x', 'touch'],
      ['yarn workspace web exec touch x', 'touch'],
      ['pnpm touch x', 'touch'],
      ['pnpm nohup touch x', 'nohup', 'touch'],
      'pnpm config set script-shell ./x',
      'yarn config set yarnPath ./x.js',
      'pnpm --script-shell=./x test',
      ['yarn create foo', 'create-foo'],
      "yarn node -e 'x'",
    ],
    harmless: [
      'pnpm -r test',
      'pnpm install --frozen-lockfile',
      'pnpm --filter web build',
      'yarn',
      'yarn build --watch',
      'yarn add -D jest',
      'yarn workspace web build',
      'pnpm run lint -- --fix',
      'yarn workspaces foreach run build',
      ['pnpm exec eslint .', 'eslint'],
      ['pnpm exec playwright test --browser=chromium --config=x.ts', 'playwright'],
      'yarn eslint --config eslint.config.js src',
      'yarn test exec touch',
      'yarn set version stable',
    ],
  },
  {
    names: ['turbo', 'npm-run-all', 'run-s', 'run-p', 'wireit', 'corepack'],
    effects: (call) => (call.name === 'corepack' ? corepack(call) : []),
    runs: [['corepack npm exec touch x', 'npm', 'touch']],
    harmless: ['turbo run build', 'run-p lint test', 'corepack enable', ['corepack pnpm install', 'pnpm']],
  },
];

const settingReason = 'chooses which code runs';
const codeSettings =
  /^(?:script-?shell|shell|node-?options|git|editor|viewer|browser|init-?module|onload-?script|node-?gyp|userconfig|globalconfig|yarnPath|yarn-path|plugins|python)$/i;

const npmCommands: Readonly<Record<string, Sub>> = {
  'exec x': { options: { short: 'yp:c:w:qC:', long: npmLongs, stop: true }, effects: packageRun },
  'config c': { effects: configEffects },
  set: { effects: ({ args, ...call }) => settingWords({ ...call, args }, args) },
  edit: { effects: (call) => [refused(call, 'edit starts an editor')] },
  explore: { options: { short: '', long: 'shell=', stop: true }, effects: exploreEffects },
  'init create innit': { options: { short: 'yw:C:', long: npmLongs }, effects: createEffects },
  pkg: { effects: packageFields },
};

/** Commands of npm that run the project's own scripts or nothing. */
const npmPlain =
  'access add adduser audit bin bugs cache ci clean-install completion cit dedupe ddp deprecate diff dist-tag dist-tags docs doctor explain why find-dupes fund get help help-search hlep home i in ins inst insta instal isnt isnta isntal isntall install install-ci-test install-clean install-test it la link ln list ll login logout ls org ogr outdated owner author pack ping prefix profile prune publish query r rb rebuild remove repo restart rm root rum run run-script s sbom se search shrinkwrap sit star stars start stop t tst team test token un undeprecate uninstall unlink unpublish unstar up update upgrade udpate urn v verison version view info show whoami'.split(
    ' ',
  );

const npmByName = new Map(
  Object.entries(npmCommands).flatMap(([names, sub]) => names.split(' ').map((name) => [name, sub] as const)),
);

/** Finds the commands that a word may mean: npm accepts every beginning of a name that is not ambiguous. */
function npmCommandEffects(call: ProgramCall): Effect[] {
  const [word] = call.options.operands;
  if (word === undefined) return [];
  const { text } = word;
  const unclear: Effect = { does: 'unknown', at: word, reason: `what ${call.name} would do cannot be known` };
  if (text === undefined) return word.many ? [unclear] : [];
  if (npmPlain.includes(text)) return [];
  const names = npmByName.has(text) ? [text] : [...npmByName.keys()].filter((name) => name.startsWith(text));
  const subs = new Set(names.flatMap((name) => npmByName.get(name) ?? []));
  if (subs.size === 0)
    return npmPlain.some((name) => name.startsWith(text))
      ? []
      : [refused(call, `${text} is not a command that is known to be harmless`, word)];
  const args = call.args.slice(call.args.indexOf(word) + 1);
  return [...subs].flatMap((sub) => [
    ...shellOptions('c', 'call')(call),
    ...sub.effects({ ...call, args, options: parseOptions(args, sub.options ?? noOptions) }),
  ]);
}

/** Options such as `--script-shell` that choose which programs npm starts. */
function npmSettings(call: ProgramCall): Effect[] {
  return [...(call.name === 'npx' ? refuseForNpx : refuseForNpm)(call), ...oddDashes(call)];
}

/** npm accepts any number of dashes before a setting, and points in its name: `-script-shell=x`, `---init.module`. */
function oddDashes(call: ProgramCall): Effect[] {
  return ownWords(call).flatMap((arg): Effect[] => {
    const name = /^-+([a-z][\w.-]{2,})/i.exec(prefixOf(arg))?.[1]?.toLowerCase().replace(/[._]/g, '-');
    if (name === undefined || !choosesCode(name)) return [];
    return [refused(call, `${wordText(arg).split('=')[0] ?? ''} ${settingReason}`, arg)];
  });
}

/** Returns true for the name of a setting, its beginning, or `--config.script-shell` of pnpm. */
function choosesCode(name: string): boolean {
  const setting = name.replace(/^config-(?=.)/, '');
  return Object.keys(choosing).some((key) => key.startsWith(setting) && key.length > 3);
}

/** The words before `--` and before those that npx, `pnpm exec` and the like pass to a program. */
function ownWords({ name, args, options }: ProgramCall): readonly Arg[] {
  const [first, program] = options.operands;
  const passed = /^(?:npx|pnpx|bunx)$/.test(name)
    ? first
    : /^(?:pnpm|yarn)/.test(name) && /^(?:exec|dlx)$/.test(first?.text ?? '')
      ? program
      : undefined;
  const end = args.findIndex((arg) => arg.text === '--' || arg === passed);
  return end < 0 ? args : args.slice(0, end);
}

/** `npm run env CMD` starts the program `env`, unless the project has a script of that name. */
function runEnv(call: ProgramCall): Effect[] {
  const words = call.options.operands;
  const at = words.findIndex(({ text }) => /^(?:run|run-script|rum|urn)$/.test(text ?? ''));
  const [script, ...rest] = words.slice(at + 1).filter(({ text }) => text !== '--');
  return at === 0 && script?.text === 'env' && rest.length > 0
    ? [{ does: 'start', argv: [script, ...rest] }]
    : [];
}

const choosing = {
  'script-shell': settingReason,
  'node-options': settingReason,
  'node-arg': settingReason,
  git: settingReason,
  editor: settingReason,
  viewer: settingReason,
  browser: settingReason,
  'use-yarnrc': settingReason,
  userconfig: settingReason,
  globalconfig: settingReason,
  'init-module': settingReason,
  shell: settingReason,
  python: settingReason,
  'node-gyp': settingReason,
  'onload-script': settingReason,
};

const refuseForNpm = refuseOptions(choosing);

/** For npm, `-n` abbreviates `--no-yes`; only npx reads Node options there. */
const refuseForNpx = refuseOptions({ ...choosing, n: settingReason });

/** An unknown option before the subcommand makes the call ambiguous; options after it were already checked. */
function nestedOptions(call: ProgramCall): Effect[] {
  return call.options.ambiguous === undefined || call.options.operands.length > 0
    ? []
    : [{ does: 'unknown', at: call.options.ambiguous, reason: `what ${call.name} would do cannot be known` }];
}

function packageRun(call: ProgramCall): Effect[] {
  const { options } = call;
  const [first, ...rest] = options.operands;
  if (options.has('c', 'call')) return shellOptions('c', 'call')(call);
  if (first === undefined || options.has('v', 'version', 'h', 'help')) return [];
  return [...unclearStart(call), { does: 'start', argv: [withoutVersion(first), ...rest] }];
}

function configEffects(call: ProgramCall): Effect[] {
  const [action, ...rest] = call.options.operands;
  if (action?.text === 'edit') return [refused(call, 'config edit starts an editor')];
  return action?.text === 'set' || action === undefined ? settingWords(call, rest) : [];
}

function settingWords(call: ProgramCall, words: readonly Arg[]): Effect[] {
  return words
    .filter(
      (word) =>
        codeSettings.test((word.text ?? '').split('=')[0]?.replace(/^.*:/, '') ?? '') ||
        (prefixOf(word) === '' && word.text === undefined),
    )
    .map((word) => refused(call, `config: ${word.text ?? 'a setting'} ${settingReason}`, word));
}

function exploreEffects(call: ProgramCall): Effect[] {
  const rest = call.options.operands.slice(1).filter(({ text }) => text !== '--');
  return rest.length === 0
    ? [refused(call, 'explore starts a shell')]
    : [{ does: 'shell', text: joinWords(rest, call.self) }];
}

/** `npm init foo` runs the package `create-foo`. */
function createEffects(call: ProgramCall): Effect[] {
  const [first, ...rest] = call.options.operands;
  if (first === undefined) return [];
  const name = withoutVersion(first);
  const program = name.text === undefined ? name : knownArg(`create-${name.text}`, first);
  return [{ does: 'start', argv: [program, ...rest] }];
}

/** `npm pkg set scripts.x=…` stores a command that runs later. */
function packageFields({ options }: ProgramCall): Effect[] {
  const [action, ...fields] = options.operands;
  if (action?.text !== 'set') return [];
  return fields.flatMap((field): Effect[] => {
    const key = /^scripts(?:\.|\[)[^=]*=/.exec(prefixOf(field))?.[0];
    return key === undefined ? [] : [{ does: 'shell', text: withoutPrefix(field, key.length) }];
  });
}

/** Programs on every PATH: `pnpm nohup` starts them, since scripts rarely have such names. */
export const everyday: ReadonlySet<string> = new Set(
  `awk base64 bash cat chgrp chmod chown chroot cp curl cut dash dd doas echo ed emacs env expect find flock gawk gdb git grep
  head id ionice kill less ln ls lua man mkdir mkfifo mktemp mv nano nc ncat nice nohup nsenter od perl php pkexec printf prlimit ps
  python python2 python3 rm rmdir rsync ruby run-parts runuser scp script sed setarch setpriv setsid sh shred socat ssh
  stat stdbuf strace su sudo sysctl systemd-run tail tar taskset tclsh tee telnet timeout top touch tr truncate unshare vi vim wget xargs
  xxd yes zsh rimraf`.split(/\s+/),
);

const runLongs =
  'all parallel interlaced topological topological-dev verbose jobs= include= exclude= recursive since[=] from= private no-private package= quiet shell-mode resume-from= no-bail report-summary';
const runOptions = { short: 'rcAp:qviWtRj:', long: runLongs, stop: true };
const foreachOptions = { short: 'ApivWtRj:', long: runLongs, stop: true };
const workspaceOptions = { stop: true };

function runnerEffects(call: ProgramCall): Effect[] {
  const [word] = call.options.operands;
  if (word === undefined) return [];
  if (word.text === undefined)
    return word.many
      ? [{ does: 'unknown', at: word, reason: `what ${call.name} would do cannot be known` }]
      : [];
  const place = call.args.indexOf(word);
  const args = call.args.slice(place + 1);
  const inner: ProgramCall = {
    ...call,
    args,
    options: parseOptions(args, runOptions),
  };
  if (everyday.has(word.text)) return [{ does: 'start', argv: [word, ...args] }];
  if (word.text === 'run' && everyday.has(wordText(inner.options.operands[0])))
    return [{ does: 'start', argv: inner.options.operands }];
  if (/^(?:plugin|set)$/.test(word.text) && args.some((arg) => /[/]|\.c?js$/.test(arg.text ?? '/')))
    return [refused(call, `${word.text} would load code`, word)];
  if (/^(?:exec|dlx)$/.test(word.text))
    return execEffects(inner, call.options.has('c', 'shell-mode') || inner.options.has('c', 'shell-mode'));
  if (word.text === 'node') return [{ does: 'start', argv: [word, ...args] }];
  if (word.text === 'create') return createEffects(inner);
  if (word.text === 'config') return configEffects({ ...inner, options: parseOptions(args, noOptions) });
  if (word.text === 'workspace')
    return runnerEffects({ ...inner, options: parseOptions(args.slice(1), workspaceOptions) });
  if (word.text === 'workspaces' && args[0]?.text === 'foreach')
    return runnerEffects({ ...inner, options: parseOptions(args.slice(1), foreachOptions) });
  return [];
}

function execEffects(call: ProgramCall, asText: boolean): Effect[] {
  const { operands } = call.options;
  if (asText) return operands.length === 0 ? [] : [{ does: 'shell', text: joinWords(operands, call.self) }];
  const [first, ...rest] = operands;
  return first === undefined
    ? []
    : [...unclearStart(call), { does: 'start', argv: [withoutVersion(first), ...rest] }];
}

function corepack(call: ProgramCall): Effect[] {
  const [word] = call.args;
  return /^(?:npm|npx|pnpm|pnpx|yarn)(?:@|$)/.test(word?.text ?? '') && word !== undefined
    ? [{ does: 'start', argv: [withoutVersion(word), ...call.args.slice(1)] }]
    : [];
}
