import { noOptions, type OptionGrammar } from '../options/grammar.ts';
import { type ParsedOptions, parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, prefixOf, wordText } from '../words/arg.ts';
import { joinWords } from './effects.ts';
import { configEffects } from './git-config.ts';
import type { Effect } from './program.ts';

interface Subcommand {
  readonly names: readonly string[];
  readonly options?: OptionGrammar;
  readonly effects: (options: ParsedOptions, call: ProgramCall, args: readonly Arg[]) => readonly Effect[];
}

/** The effects of a git subcommand: programs that it runs and files that it writes. */
export function subcommandEffects(
  subcommand: Arg,
  args: readonly Arg[],
  call: ProgramCall,
): readonly Effect[] {
  const name = subcommand.text;
  if (name === undefined) {
    return subcommand.many
      ? [{ does: 'unknown', at: subcommand, reason: 'which git command would run cannot be known' }]
      : [];
  }
  const entries = byName.get(name);
  if (entries === undefined) return none;
  return entries.flatMap((entry) =>
    entry.effects(parseOptions(args, entry.options ?? noOptions), call, args),
  );
}

const none: readonly never[] = [];

const diffOptions = {
  short: 'G:S:n:U:O:',
  long: 'ext-diff output= format= pretty= grep= author= since= until=',
};

const subcommands: readonly Subcommand[] = [
  {
    names: [
      'diff',
      'log',
      'show',
      'format-patch',
      'whatchanged',
      'diff-tree',
      'diff-index',
      'diff-files',
      'stash',
      'reflog',
      'range-diff',
      'blame',
    ],
    options: diffOptions,
    effects: (options, call) => [
      ...refuse(options, 'ext-diff', 'runs the configured diff program'),
      ...(call.args.some((arg) => arg.text === 'format-patch')
        ? []
        : refuse(options, 'output', 'writes a file', 'writes')),
      ...options.values('output').map((path): Effect => ({ does: 'write', path })),
    ],
  },
  {
    names: ['config'],
    options: {
      short: 'zlef:t:',
      long: 'global system local worktree file= blob= get get-all get-regexp get-urlmatch get-color get-colorbool add unset unset-all replace-all rename-section remove-section list edit type= bool int path name-only show-origin show-scope includes no-includes default= null all regexp= value= fixed-value append comment=',
    },
    effects: configCommand,
  },
  { names: ['submodule'], effects: (_options, call, args) => foreachEffects(args, call) },
  {
    names: ['bisect'],
    effects: (_options, _call, args) =>
      args[0]?.text === 'run' ? [{ does: 'start', argv: args.slice(1) }] : [],
  },
  {
    names: ['rebase'],
    options: {
      short: 'x:s:X:S::C:ifkmnqrtvp',
      long: 'exec= onto= strategy= strategy-option= edit-todo interactive continue abort skip quit autosquash autostash root keep-base',
    },
    effects: (options) => shells(options, 'x', 'exec'),
  },
  {
    names: ['grep'],
    options: {
      short: 'O::A:B:C:e:f:m:aiIhHlLLnoqrvwzEGFPpcW',
      long: 'open-files-in-pager[=] or and not only-matching',
    },
    effects: (options) =>
      options.given
        .filter((one) => one.name === 'O' || one.name === 'open-files-in-pager')
        .map(
          (one): Effect =>
            one.value === undefined
              ? refusal(one.at, 'git grep -O starts a pager')
              : { does: 'shell', text: one.value },
        ),
  },
  {
    names: ['difftool', 'mergetool'],
    options: { short: 'x:t:ydg', long: 'extcmd= tool= no-prompt prompt dir-diff tool-help gui' },
    effects: (options, call) => {
      const given = shells(options, 'x', 'extcmd');
      return given.length > 0 || options.has('tool-help')
        ? given
        : [refusal(call.self, 'git difftool and mergetool start another program')];
    },
  },
  {
    names: [
      'fetch',
      'pull',
      'clone',
      'ls-remote',
      'fetch-pack',
      'push',
      'send-pack',
      'remote',
      'archive',
      'submodule',
    ],
    options: {
      short: 'u:c:o:b:j:4',
      long: 'upload-pack= receive-pack= exec= template= config= reference= depth= branch= origin= recurse-submodules[=] remote= output= update-head-ok unshallow update-shallow',
    },
    effects: transferEffects,
  },
  {
    names: ['init'],
    options: { short: 'qb:', long: 'template= bare quiet initial-branch= separate-git-dir= shared[=]' },
    effects: (options) => refuse(options, 'template', 'brings hooks along'),
  },
  {
    names: ['filter-branch'],
    options: {
      short: 'fd:',
      long: 'setup= subdirectory-filter= env-filter= tree-filter= index-filter= parent-filter= msg-filter= commit-filter= tag-name-filter= prune-empty original= force state-branch=',
    },
    effects: (options) =>
      shells(
        options,
        'setup',
        'env-filter',
        'tree-filter',
        'index-filter',
        'parent-filter',
        'msg-filter',
        'commit-filter',
        'tag-name-filter',
      ),
  },
  {
    names: ['hook'],
    effects: (_options, call, args) =>
      args[0]?.text === 'run' ? [refusal(call.self, 'git hook run starts a hook')] : [],
  },
  {
    names: [
      'instaweb',
      'daemon',
      'shell',
      'gui',
      'citool',
      'web--browse',
      'cvsserver',
      'http-backend',
      'fast-import',
    ],
    effects: (_options, call) => [refusal(call.self, 'this git command starts other programs or a server')],
  },
  {
    names: ['send-email'],
    options: { short: '', long: 'to-cmd= cc-cmd= header-cmd= sendmail-cmd= smtp-server= to= cc= subject=' },
    effects: (options) =>
      ['to-cmd', 'cc-cmd', 'header-cmd', 'sendmail-cmd', 'smtp-server'].flatMap((name) =>
        refuse(options, name, 'starts a program'),
      ),
  },
];

const byName = new Map<string, Subcommand[]>();
for (const entry of subcommands)
  for (const name of entry.names) byName.set(name, [...(byName.get(name) ?? []), entry]);

function refusal(at: Arg, reason: string, rule?: string): Effect {
  return { does: 'refuse', at, reason, ...(rule === undefined ? {} : { rule }) };
}

function refuse(options: ParsedOptions, name: string, what: string, rule?: string): Effect[] {
  return options.given
    .filter((option) => option.name === name)
    .map((option) => refusal(option.at, `git --${name} ${what}`, rule));
}

function shells(options: ParsedOptions, ...names: string[]): Effect[] {
  return options.values(...names).map((text) => ({ does: 'shell', text }));
}

const reading = [
  'get',
  'get-all',
  'get-regexp',
  'get-urlmatch',
  'get-color',
  'get-colorbool',
  'list',
  'l',
  'unset',
  'unset-all',
  'remove-section',
  'rename-section',
];

function configCommand(options: ParsedOptions, call: ProgramCall): Effect[] {
  const [first, ...rest] = options.operands;
  if (options.has('e', 'edit') || first?.text === 'edit')
    return [refusal(call.self, 'git config --edit starts an editor')];
  if (options.has(...reading) || /^(?:get|list|unset|remove-section|rename-section)$/.test(wordText(first)))
    return [];
  const [key, value] = first?.text === 'set' ? rest : [first, ...rest];
  if (key === undefined || value === undefined) return [];
  if (key.text === undefined)
    return [{ does: 'unknown', at: key, reason: 'which git setting would change cannot be known' }];
  return configEffects(key.text, value, 0, call);
}

function foreachEffects(args: readonly Arg[], call: ProgramCall): Effect[] {
  const words = args.filter((arg, index) => !(index < 3 && /^(?:-q|--quiet)$/.test(wordText(arg))));
  if (words[0]?.text !== 'foreach') return [];
  const rest = words
    .slice(1)
    .filter((arg, index, all) => !(index < 2 && /^--recursive$/.test(wordText(arg)) && all[0] !== undefined));
  return rest.length === 0 ? [] : [{ does: 'shell', text: joinWords(rest, call.self) }];
}

function transferEffects(options: ParsedOptions, call: ProgramCall, args: readonly Arg[]): Effect[] {
  const cloning = call.args.some((arg) => arg.text === 'clone');
  const settings = cloning ? options.values('c', 'config') : [];
  return [
    ...shells(options, 'upload-pack', 'receive-pack', 'exec', ...(cloning ? ['u'] : [])),
    ...refuse(options, 'template', 'brings hooks along'),
    ...settings.flatMap((setting) =>
      configEffects(prefixOf(setting).split('=')[0] ?? '', setting, prefixOf(setting).indexOf('=') + 1, call),
    ),
    ...args
      .filter((arg) => /^(?:ext|fd)::/.test(prefixOf(arg)))
      .map((at) => refusal(at, 'an ext:: address makes git run a command')),
  ];
}
