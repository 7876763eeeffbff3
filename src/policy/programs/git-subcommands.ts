import { noOptions, type OptionGrammar, optionsOf } from '../options/grammar.ts';
import { hiddenOptions, type ParsedOptions, parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { type Arg, knownArg, prefixOf, wordText } from '../words/arg.ts';
import { hasMisleadingFolder } from '../words/misleading-name.ts';
import { baseName } from '../words/paths.ts';
import { joinWords } from './effects.ts';
import { refuseName } from './files.ts';
import { configEffects, runsTransport } from './git-config.ts';
import { unknownGitOptions } from './git-options.ts';
import type { Effect } from './program.ts';
import { patchedFiles } from './script-tools.ts';

interface Subcommand {
  readonly names: readonly string[];
  /** The options that the entry judges; all others must be known to be harmless (git-options.ts). */
  readonly options?: OptionGrammar;
  /** True if words after the subcommand belong to another program. */
  readonly passesOn?: boolean;
  readonly effects: (options: ParsedOptions, call: ProgramCall, args: readonly Arg[]) => readonly Effect[];
}

/** The effects of a git subcommand: programs that it runs and files that it writes; an unknown subcommand is refused. */
export function subcommandEffects(
  subcommand: Arg,
  args: readonly Arg[],
  call: ProgramCall,
): readonly Effect[] {
  const name = subcommand.text;
  if (name === undefined)
    return [{ does: 'unknown', at: subcommand, reason: 'which git command would run cannot be known' }];
  const known = byName.get(name);
  if (known === undefined && !harmless.has(name))
    return [
      refusal(
        subcommand,
        `git ${name} is not a git command that is known to be harmless`,
        'unknown_subcommand',
      ),
    ];
  if (args.length === 0 && known === undefined) return none;
  if (known === undefined) return unknownGitOptions(name, args, nothing);
  const unknown = known.passesOn ? none : unknownGitOptions(name, args, known.own);
  return [...known.entries.flatMap((entry) => entryEffects(entry, args, call)), ...unknown];
}

/** The options of the git subcommand in `args` that run programs or write files; undefined if it has none. */
export function gitSubcommandOptions(args: readonly Arg[]): OptionGrammar | undefined {
  const name = args.find(
    (arg, index) => !/^-/.test(prefixOf(arg)) && !/^-[Cc]$/.test(wordText(args[index - 1])),
  )?.text;
  if (name === undefined) return noOptions;
  if (harmlessSubcommands.has(name)) return undefined;
  return byName.get(name)?.grammar ?? outputOption;
}

const outputOption: OptionGrammar = { long: 'output=' };

/** Subcommands without any option that runs a program or writes a file of the caller's choice. */
const harmlessSubcommands = new Set(
  `add branch checkout check-ignore check-ref-format cherry-pick clean commit describe for-each-ref hash-object ls-files ls-tree merge-base
  mv name-rev reset restore rev-parse revert rm show-ref status switch symbolic-ref tag update-index update-ref`.split(
    /\s+/,
  ),
);

function entryEffects(entry: Subcommand, args: readonly Arg[], call: ProgramCall): readonly Effect[] {
  const grammar = entry.options ?? noOptions;
  const options = parseOptions(args, grammar);
  const hidden = entry.passesOn ? none : hiddenOptions(args, grammar, options);
  const effects = entry.effects(options, call, args);
  return hidden.length === 0
    ? effects
    : [
        ...effects,
        ...hidden.map((at) =>
          refusal(
            at,
            `git might read ${at.text ?? 'a word'} as an option that runs a program or writes a file`,
          ),
        ),
      ];
}

const none: readonly never[] = [];
const nothing: ReadonlySet<string> = new Set();

/** Subcommands that run no program of the caller's choice, and write only where git keeps its own files. */
const harmless = new Set(
  `add annotate blame branch cat-file check-attr check-ignore check-mailmap check-ref-format checkout cherry clean commit
  commit-graph commit-tree count-objects describe fmt-merge-msg for-each-ref fsck fsck-objects gc get-tar-commit-id hash-object ls-files ls-tree
  merge-base merge-tree mktag mktree multi-pack-index name-rev notes pack-refs patch-id prune prune-packed replace rerere reset
  restore rev-list rev-parse rm shortlog show-branch show-index show-ref sparse-checkout stage status stripspace
  switch symbolic-ref tag unpack-objects update-index update-ref update-server-info var verify-commit verify-pack verify-tag version
  write-tree`.split(/\s+/),
);

const strategies = /^(?:ort|recursive|resolve|octopus|ours|subtree)$/;
const mergeOptions = { short: 's:', long: 'strategy= strategy-option=' };

const subcommands: readonly Subcommand[] = [
  {
    names: 'diff log show whatchanged diff-tree diff-index diff-files stash reflog range-diff'.split(' '),
    options: {
      short: '',
      long: 'ext-diff output= output-indicator-new= output-indicator-old= output-indicator-context=',
    },
    effects: (options) => [
      ...refuse(options, 'ext-diff', 'runs the configured diff program'),
      ...refuse(options, 'output', 'writes a file', 'writes'),
      ...options.values('output').map(written),
    ],
  },
  {
    names: ['format-patch'],
    options: { short: 'o:', long: 'output= output-directory= ext-diff' },
    effects: (options) => [
      ...refuse(options, 'ext-diff', 'runs the configured diff program'),
      ...options.values('output').map(written),
      ...options.values('o', 'output-directory').flatMap(writtenInto),
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
  {
    names: ['submodule'],
    passesOn: true,
    effects: (_options, call, args) => submoduleEffects(args, call),
  },
  {
    names: ['bisect'],
    passesOn: true,
    effects: (_options, call, args) => bisectEffects(args, call),
  },
  {
    names: ['rebase'],
    options: { short: 'x:s:', long: 'exec= strategy= strategy-option=' },
    effects: (options) => [...shells(options, 'x', 'exec'), ...strategyEffects(options)],
  },
  { names: ['commit'], options: { short: '', long: 'template=' }, effects: () => none },
  { names: ['merge', 'pull'], options: mergeOptions, effects: strategyEffects },
  // In these subcommands, `-s` is `--signoff`.
  { names: ['cherry-pick', 'revert'], options: { ...mergeOptions, short: 'X:m:' }, effects: strategyEffects },
  {
    names: ['grep'],
    options: { short: 'O::', long: 'open-files-in-pager[=]' },
    effects: (options) =>
      options.given.map(
        (one): Effect =>
          one.value === undefined
            ? refusal(one.at, 'git grep -O starts a pager')
            : { does: 'shell', text: one.value },
      ),
  },
  {
    names: ['difftool', 'mergetool'],
    options: { short: 'x:t:', long: 'extcmd= tool= no-prompt prompt dir-diff tool-help gui' },
    effects: (options, call) => {
      const given = shells(options, 'x', 'extcmd');
      return given.length > 0 || options.has('tool-help')
        ? given
        : [refusal(call.self, 'git difftool and mergetool start another program')];
    },
  },
  {
    names: ['fetch', 'pull', 'ls-remote', 'push', 'remote', 'clone', 'archive', 'request-pull'],
    options: { short: '', long: 'upload-pack= receive-pack= exec= repo= url=' },
    effects: (options, call, args) => [
      ...shells(options, 'upload-pack', 'receive-pack', 'exec'),
      ...transportEffects(args, call),
    ],
  },
  {
    names: ['clone'],
    options: {
      short: 'b:c:j:o:u:',
      long: 'template= config= reference= reference-if-able= branch= origin= separate-git-dir= depth= filter= jobs= shallow-since= shallow-exclude= server-option= bundle-uri= upload-pack=',
    },
    effects: cloneEffects,
  },
  {
    names: ['archive'],
    options: { short: 'o:', long: 'output= remote=' },
    effects: (options) => options.values('o', 'output').map(written),
  },
  {
    names: ['init', 'init-db'],
    options: { short: 'qb:', long: 'template= separate-git-dir= initial-branch= object-format=' },
    effects: (options) => [
      ...refuse(options, 'template', 'brings hooks along'),
      ...refuse(options, 'separate-git-dir', 'chooses where git loads settings from'),
      ...options.operands.filter(hasMisleadingFolder).map(refuseName),
      ...options.operands.slice(0, 1).flatMap(writtenInto),
    ],
  },
  {
    names: ['apply', 'am'],
    options: { short: '', long: 'unsafe-paths build-fake-ancestor= directory=' },
    effects: (options, { self, stdin }) => [
      ...refuse(options, 'unsafe-paths', 'writes outside the working tree', 'writes'),
      ...options.values('build-fake-ancestor').map(written),
      ...options.values('directory').flatMap(writtenInto),
      // In `.git`, which has no working tree, paths are relative to the directory.
      written(knownArg('file', self)),
      ...patchedFiles(stdin === 'none' ? '' : stdin.text, self),
    ],
  },
  {
    names: ['checkout-index', 'read-tree'],
    options: { short: '', long: 'prefix= index-output=' },
    effects: (options, call) => [
      ...(call.args.some((arg) => arg.text === 'read-tree')
        ? []
        : options.values('prefix').flatMap(prefixed)),
      ...options.values('index-output').map(written),
    ],
  },
  {
    names: ['fast-export'],
    options: { short: '', long: 'export-marks=' },
    effects: (options) => options.values('export-marks').map(written),
  },
  {
    names: ['bundle'],
    options: { short: 'q', long: 'version=' },
    effects: (options) =>
      options.operands[0]?.text === 'create' ? options.operands.slice(1, 2).map(written) : [],
  },
  {
    names: ['merge-file'],
    options: { short: 'L:', long: 'marker-size=' },
    effects: (options) => options.operands.slice(0, options.unrecognised.length + 1).map(written),
  },
  { names: ['mailinfo'], effects: (options) => options.operands.map(written) },
  {
    names: ['worktree'],
    options: { short: 'b:B:', long: 'reason= expire=' },
    effects: (options) =>
      options.operands[0]?.text === 'add'
        ? options.operands.slice(1, 2).flatMap(writtenInto)
        : options.operands[0]?.text === 'move'
          ? options.operands.slice(2).flatMap(writtenInto)
          : [],
  },
  // Git itself does not refuse `git mv a .git/hooks/pre-commit`.
  { names: ['mv'], effects: ({ operands }) => movedTo(operands) },
  {
    names: ['repack', 'column'],
    options: { short: '', long: 'expire-to= command=' },
    effects: (options) => [
      ...options.values('expire-to').map(written),
      ...refuse(options, 'command', 'reads a setting'),
    ],
  },
  {
    names: ['interpret-trailers'],
    options: { short: '', long: 'in-place trailer= where= if-exists= if-missing=' },
    effects: (options) => (options.has('in-place') ? options.operands.map(written) : []),
  },
  {
    names: ['maintenance'],
    effects: (_options, call, args) =>
      /^(?:run|register|unregister)$/.test(wordText(args[0]))
        ? []
        : [refusal(call.self, 'git maintenance start changes what the system runs later')],
  },
  {
    names: ['help'],
    effects: (_options, _call, args) =>
      args
        .filter((arg) => /^-(?:w|i|-w|-i)/.test(prefixOf(arg)))
        .map((at) => refusal(at, 'git help would start a browser')),
  },
  {
    names: ['lfs'],
    passesOn: true,
    effects: (_options, call, args) =>
      /^(?:|checkout|env|fetch|fsck|install|locks|ls-files|prune|pull|push|status|track|uninstall|untrack|version)$/.test(
        wordText(args[0]),
      )
        ? []
        : [refusal(args[0] ?? call.self, 'this git lfs command is not known to be harmless')],
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
      args[0]?.text === 'list' ? [] : [refusal(call.self, 'git hook run starts a hook')],
  },
];

interface Known {
  readonly entries: readonly Subcommand[];
  /** The long options that the entries judge. */
  readonly own: ReadonlySet<string>;
  /** All options that the entries judge. */
  readonly grammar: OptionGrammar;
  readonly passesOn: boolean;
}

const byName = new Map<string, Known>();
for (const name of new Set(subcommands.flatMap((entry) => entry.names))) {
  const entries = subcommands.filter((entry) => entry.names.includes(name));
  const own = new Set(entries.flatMap((entry) => [...optionsOf(entry.options ?? noOptions).long.keys()]));
  const grammar = {
    short: entries.map(({ options }) => options?.short ?? '').join(''),
    long: entries.map(({ options }) => options?.long ?? '').join(' '),
  };
  byName.set(name, { entries, own, grammar, passesOn: entries.some((entry) => entry.passesOn) });
}

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

function written(path: Arg): Effect {
  return { does: 'write', path };
}

/** Judges files in a directory that git would create or fill. */
function writtenInto(directory: Arg): Effect[] {
  return [written(directory), written(extended(directory, '/file'))];
}

/** The files that `git mv` writes: the last word, or files of the same names in that folder. */
function movedTo(words: readonly Arg[]): Effect[] {
  const target = words.at(-1);
  if (target === undefined || words.length < 2) return [];
  const inside = words.slice(0, -1).map((word) => extended(target, `/${baseName(word.text ?? 'file')}`));
  return [target, ...inside].map(written);
}

/** Files of any name that begins with the prefix, such as `/root/.` and `bashrc`. */
function prefixed(prefix: Arg): Effect[] {
  return ['file', 'bashrc', '.bashrc', 'git/config'].map((end) => written(extended(prefix, end)));
}

function extended(path: Arg, end: string): Arg {
  return path.text === undefined
    ? { ...path, pieces: [...path.pieces, end] }
    : knownArg(`${path.text}${end}`, path);
}

/** A strategy that is not built in is a program `git-merge-…`. */
function strategyEffects(options: ParsedOptions): Effect[] {
  return options
    .values('s', 'strategy')
    .filter((name) => !strategies.test(name.text ?? ''))
    .map((at) => refusal(at, `git would run the merge strategy ${at.text ?? ''} as a program`));
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
];

function configCommand(options: ParsedOptions, call: ProgramCall): Effect[] {
  const [first, ...rest] = options.operands;
  if (options.has('e', 'edit') || first?.text === 'edit')
    return [refusal(call.self, 'git config --edit starts an editor')];
  const files = options
    .values('f', 'file')
    .filter(() => !options.has(...reading))
    .map(writtenSettings);
  if (options.has('rename-section') || first?.text === 'rename-section')
    return [refusal(call.self, 'git config --rename-section may turn data into settings that run programs')];
  if (options.has(...reading) || /^(?:get|list|unset|remove-section)$/.test(wordText(first))) return [];
  const [key, value] = first?.text === 'set' ? rest : [first, ...rest];
  if (key === undefined || value === undefined) return [];
  if (key.text === undefined)
    return [{ does: 'unknown', at: key, reason: 'which git setting would change cannot be known' }];
  return [...files, ...configEffects(key.text, value, 0, call)];
}

/** `git config -f .git/config` writes a protected file, but only the setting, which is judged by its name. */
function writtenSettings(path: Arg): Effect {
  return /(?:^|\/)\.git\/config$|\.gitconfig$|\.gitmodules$/.test(wordText(path))
    ? { does: 'write', path: knownArg('.gitmodules', path) }
    : written(path);
}

const submoduleVerbs =
  /^(?:|add|status|init|deinit|update|set-branch|set-url|summary|foreach|sync|absorbgitdirs)$/;

function submoduleEffects(args: readonly Arg[], call: ProgramCall): Effect[] {
  const words = args.filter((arg, index) => !(index < 3 && /^(?:-q|--quiet|--cached)$/.test(wordText(arg))));
  const [verb] = words;
  if (verb !== undefined && !submoduleVerbs.test(wordText(verb)))
    return [refusal(verb, 'this git submodule command is not known to be harmless')];
  if (verb?.text !== 'foreach')
    return [
      ...addedFolder(verb, words),
      ...transportEffects(words, call),
      ...unknownGitOptions('submodule', words, submoduleOptions),
    ];
  const rest = words
    .slice(1)
    .filter((arg, index, all) => !(index < 2 && /^--recursive$/.test(wordText(arg)) && all[0] !== undefined));
  return rest.length === 0 ? [] : [{ does: 'shell', text: joinWords(rest, call.self) }];
}

/** `git submodule add URL FOLDER` fills the folder. */
function addedFolder(verb: Arg | undefined, words: readonly Arg[]): Effect[] {
  const { operands } = parseOptions(words.slice(1), {
    short: 'b:fq',
    long: 'name= reference= branch= depth= ref-format=',
  });
  return verb?.text === 'add' ? operands.slice(1, 2).flatMap(writtenInto) : [];
}

const submoduleOptions = new Set(['default']);

function bisectEffects(args: readonly Arg[], call: ProgramCall): Effect[] {
  const verb = wordText(args[0]);
  if (verb === 'run') return [{ does: 'start', argv: args.slice(1) }];
  return /^(?:|start|bad|new|good|old|terms|skip|next|reset|replay|log|help|--.*)$/.test(verb)
    ? unknownGitOptions('bisect', args, new Set(['term-new', 'term-bad', 'term-old', 'term-good']))
    : [refusal(args[0] ?? call.self, 'this git bisect command is not known to be harmless')];
}

function transportEffects(args: readonly Arg[], _call: ProgramCall): Effect[] {
  return args
    .filter((arg) => runsTransport(arg) || /^--(?:remote|repo|url)=[\w+.-]+::/.test(prefixOf(arg)))
    .map((at) => refusal(at, `the address ${at.text ?? ''} makes git run a helper program`));
}

function cloneEffects(options: ParsedOptions, call: ProgramCall): Effect[] {
  const settings = options.values('c', 'config');
  return [
    ...shells(options, 'u'),
    ...refuse(options, 'template', 'brings hooks along'),
    ...refuse(options, 'separate-git-dir', 'chooses where git loads settings from'),
    ...options.operands.slice(1, 2).flatMap(writtenInto),
    ...settings.flatMap((setting) =>
      configEffects(prefixOf(setting).split('=')[0] ?? '', setting, prefixOf(setting).indexOf('=') + 1, call),
    ),
  ];
}
