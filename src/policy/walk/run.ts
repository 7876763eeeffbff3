import { dangerOf } from '../danger/danger.ts';
import { noOptions, type OptionGrammar } from '../options/grammar.ts';
import { type ParsedOptions, parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { programNamed } from '../programs/catalog.ts';
import { decodedText, decoders } from '../programs/decoded-text.ts';
import { joinWords } from '../programs/effects.ts';
import { isPlainProgram } from '../programs/plain-programs.ts';
import { takesOption } from '../programs/takes-option.ts';
import { unknownProgramEffects } from '../programs/unknown-program.ts';
import { writtenTo } from '../programs/written-files.ts';
import {
  type Arg,
  isOptionGlob,
  knownArg,
  mayBeForeignOption,
  mayBeMadeOption,
  type Piece,
  prefixOf,
  textOf,
  toArg,
} from '../words/arg.ts';
import { anyOutput, type Output, silent } from '../words/output.ts';
import { baseName, normalisePath } from '../words/paths.ts';
import { applyEffects } from './apply-effects.ts';
import { callFunction } from './functions.ts';
import { judgeEmptied } from './judge-emptied.ts';
import { judgeHome } from './judge-home.ts';
import { judgeOperands } from './judge-operands.ts';
import { judgeOutputOptions } from './judge-output-options.ts';
import { judgeOwn } from './judge-own.ts';
import { keepDanger } from './keep-danger.ts';
import {
  listedProcesses,
  passedText,
  printedStrings,
  printsState,
  staysEndless,
  unknownOutput,
} from './printed-output.ts';
import { passedOn, printedPaths, printedRoot } from './printed-paths.ts';
import { programFacts } from './program-facts.ts';
import type { WalkScope } from './scope.ts';
import { inputLeft, noteReading } from './shared-input.ts';
import { placesOf, type Shell, separatorsOf } from './shell.ts';
import { relativePath } from './trails.ts';
import type { Variable } from './variable.ts';
import type { RunMode, Walk, WalkSite } from './walk.ts';

/** Judges a program and everything it runs; returns its output. */
export function runProgram(walk: Walk, argv: readonly Arg[], scope: WalkScope, how: RunMode): Output {
  const [head] = argv;
  return head === undefined ? silent : callProgram(walk, head, argv.slice(1), scope, how);
}

/** Like `runProgram`, with the name and the arguments as separate parameters. */
export function callProgram(
  walk: Walk,
  head: Arg,
  args: readonly Arg[],
  scope: WalkScope,
  how: RunMode,
): Output {
  walk.spend(2 + (args.length + 1) / 8);
  const name = head.text;
  if (name === undefined) return runUnknown(walk, head, args, scope, how);
  const site: NamedCall = { walk, scope, span: head, name, args };
  if (how.by === 'shell') {
    const alias = scope.shell.defined.aliases.get(name);
    if (alias !== undefined && !scope.aliases.includes(name)) runAlias(site, alias);
    const called = scope.shell.defined.functions.get(name);
    const output =
      called &&
      callFunction(walk, called, args, scope.aliases.length === 0 ? scope : scope.with({ aliases: [] }));
    if (called?.certain) return recordFunction(site, output ?? anyOutput);
  }
  return runNamed(site, how);
}

/** A call whose program name is known; `span` is the position of that name. */
interface NamedCall extends WalkSite {
  readonly span: Arg;
  readonly name: string;
  readonly args: readonly Arg[];
}

function runNamed(site: NamedCall, how: RunMode): Output {
  const { walk, scope, span: head, name, args } = site;
  const facts = programFacts(name);
  const { base, entry } = facts;
  const free = how.by === 'program' ? facts.freeOutside : facts.freeInShell;
  const cwd = scope.shell.cwd;
  walk.invocations.push({
    name,
    args,
    via: how.via ?? scope.via,
    needsListing: !free,
    cwd,
    pos: head.pos,
    end: head.end,
  });
  if (args.length > 0) judgeOwn(walk, name, args, scope);
  const home = scope.shell.variables.get('HOME');
  if (home !== undefined) judgeHome(walk, base, head, home);
  const applies =
    entry !== undefined && !(entry.builtin === 'only' && (how.by === 'program' || name !== base));
  const grammar = (applies ? entry.options : undefined) ?? noOptions;
  const call = new LazyCall(site, base, grammar, homeOf(walk, home));
  const effects = applies
    ? entry.effects?.(call)
    : entry === undefined && !free && facts.isOpen && args.length > 0
      ? unknownProgramEffects(call, programNamed)
      : undefined;
  const inner = effects === undefined ? silent : applyEffects(walk, effects, call, scope);
  if (!free) {
    const isPlain = isPlainProgram(base);
    if (applies && !isPlain) judgeOutputOptions(walk, base, args, scope);
    judgeOperands(walk, base, args, scope, applies || isPlain);
  }
  if (applies && entry.builtin === undefined && !isPlainProgram(base) && !copying.has(base))
    refuseRuntimeOptions({ walk, program: name, args }, grammar, (at) =>
      takesOption(call, entry, grammar, at),
    );
  judgeEmptied(walk, call, applies ? entry : undefined, grammar, facts.dangers);
  if (facts.dangers.length > 0)
    for (const form of walk.links.size === 0 ? [call] : [call, call.withLinkTargets(walk.links)])
      for (const danger of dangerOf(form.atPossiblePlaces(), facts.dangers))
        walk.problems.push({ scope: 'danger', program: name, ...danger });
  const isUnclear =
    entry === undefined || (effects?.length ? effects.every(({ does }) => does === 'refuse') : false);
  if (isUnclear && !free && args.length > 1) findPassedDanger(site, how);
  if (remoteRunners.has(base)) findRemoteDanger(site);
  if (walk.files.size > 0 && (name !== base || name === scope.shell.arg0)) runWritten(call, scope, walk);
  if (free) return printsState(call, scope) ? anyOutput : silent;
  noteReading(walk, call, scope.stdin);
  const decoded = decoders.has(base) ? decodedText(call) : undefined;
  const output =
    decoded ??
    printedRoot(call) ??
    (applies ? entry.output?.(call) : undefined) ??
    passedOn(call, facts, inner) ??
    passedText(call) ??
    printedStrings(call) ??
    printedPaths(call) ??
    listedProcesses(call) ??
    (base === 'dirs' ? directoryStack(scope) : undefined);
  if (typeof output === 'string') {
    walk.literals.print(output);
    return { text: output, more: false };
  }
  if (base === 'echo' || base === 'printf') notePrinted(walk, args);
  const printed = unknownOutput(call, facts, inner, output);
  return staysEndless(call) ? { ...printed, endless: true } : printed;
}

/** Records a command that is printed with unknown words, as in `ls -d /* | xargs -n1 echo rm -rf`: a shell may read it. */
function notePrinted(walk: Walk, args: readonly Arg[]): void {
  // Options and `sudo` may come first.
  if (!args.slice(0, 4).some((arg) => destructive.test(prefixOf(arg).split(' ', 1)[0] ?? ''))) return;
  const [format = '', ...words] = args.map(({ pieces }) => pieces.map(asPattern).join(''));
  const rest = words.join(' ');
  const text = format.includes('%s')
    ? format.replaceAll('%s', rest).replaceAll('\\n', '\n')
    : `${format} ${rest}`;
  walk.literals.print(`${text}\n`);
}

/** A piece as it may be in a command: a pattern for names of a folder. */
function asPattern(piece: Piece): string {
  if (typeof piece === 'string') return piece;
  if (piece.hole === 'glob') return piece.text;
  return piece.listed === undefined ? 'unknown_word' : `${piece.listed === '.' ? '' : piece.listed}*`;
}

/** The directories that `dirs` prints, for the danger rules. */
function directoryStack({ shell }: WalkScope): (Output & { more: true }) | undefined {
  const places = [...placesOf(shell), ...shell.stacked];
  return places.length === 0 ? undefined : { text: `${places.join('\n')}\n`, more: true };
}

/** Refuses words that may turn out to be options at run time: text from filters, files and programs, and globs such as `-*`. */
function refuseRuntimeOptions(
  { walk, program, args }: { readonly walk: Walk; readonly program: string; readonly args: readonly Arg[] },
  { stop }: OptionGrammar,
  takesOptionAt: (at: number) => boolean,
): void {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at];
    if (arg === undefined || arg.text === '--' || (stop && arg.text?.startsWith('-') === false)) return;
    if (arg.text !== undefined) continue;
    const isMade = mayBeMadeOption(arg) || isOptionGlob(arg);
    if (!isMade && !(mayBeForeignOption(arg) && takesOptionAt(at))) continue;
    const reason = `${program} might read a word that is known only at run time as an option, which is not allowed under an allow list`;
    const hint = 'Write the word out, put -- before it, or put ./ in front of a file name.';
    walk.problems.push({
      scope: 'finite',
      rule: 'unknown_text',
      reason,
      hint,
      program,
      pos: arg.pos,
      end: arg.end,
    });
    return;
  }
}

/** Programs whose options neither start a program nor choose a file to write, except the one that is named anyway. */
const copying = new Set('cat cp echo ln mv tac tee touch truncate'.split(' '));

/** A program that the same command has written, as in `echo … > x; ./x`, may be a script. */
function runWritten(call: ProgramCall, scope: WalkScope, walk: Walk): void {
  const written = writtenTo(call, call.self);
  if (written !== undefined && written.text !== '')
    applyEffects(
      walk,
      [{ does: 'perhaps', text: knownArg(written.text, call.self), args: [call.self, ...call.args] }],
      call,
      scope,
    );
}

/** A program that is not known may start the program that its arguments name, so these are checked for danger. */
function findPassedDanger({ walk, scope, name, args }: NamedCall, how: RunMode): void {
  if (how.via === unknownWrapper || isPlainProgram(baseName(name))) return;
  const at = args.findIndex(({ text }) => text !== undefined && destructive.test(text));
  if (at < 0) return;
  keepDanger(walk, () =>
    runProgram(walk, args.slice(at), scope.fork(), { by: 'program', via: unknownWrapper }),
  );
}

/** Programs that run their operands on other machines, as words or as the text of one word. */
const remoteRunners = new Set('pdsh pssh parallel-ssh clush dsh mussh ansible salt'.split(' '));

function findRemoteDanger({ walk, scope, args, span }: NamedCall): void {
  const at = args.findIndex(({ text }) => destructive.test(text?.split(' ', 1)[0] ?? ''));
  if (at >= 0) keepDanger(walk, () => walk.runText(joinWords(args.slice(at), span), scope.fork()));
}

const unknownWrapper = 'a program';
const destructive =
  /^(?:\/(?:usr\/)?s?bin\/)?(?:rm|dd|mkfs(?:\.\w+)?|shred|wipefs|chmod|chown|find|mv|kill)$/;

/** A call whose `options` are parsed on first access. */
class LazyCall implements ProgramCall {
  readonly name: string;
  readonly args: readonly Arg[];
  readonly stdin: ProgramCall['stdin'];
  readonly posix: boolean;
  readonly cwd: ProgramCall['cwd'];
  readonly home: string;
  readonly files: ProgramCall['files'];
  readonly inputs: ProgramCall['inputs'];
  readonly self: Arg;
  private readonly shell: Shell;
  private readonly grammar: OptionGrammar;
  private parsed: ParsedOptions | undefined;

  constructor({ walk, scope, span, args }: NamedCall, name: string, grammar: OptionGrammar, home: string) {
    this.name = name;
    this.args = args;
    this.grammar = grammar;
    this.stdin = inputLeft(walk, scope.stdin, name);
    this.posix = scope.shell.posix;
    this.cwd = scope.shell.cwd;
    this.home = home;
    this.files = walk.files;
    this.inputs = walk.inputs;
    this.self = span;
    this.shell = scope.shell;
  }

  /** The call with links that the command has made replaced by their targets, as in `ln -s /etc x; rm -rf x/*`. */
  withLinkTargets(links: Walk['links']): LazyCall {
    const { args } = this;
    const followed = args.map((arg) => followLink(arg, links, this.cwd?.[0]));
    return Object.create(this, { args: { value: followed }, parsed: { value: undefined, writable: true } });
  }

  /** The call in the directories that are possible, if the working directory is not known (`Shell.places`). */
  atPossiblePlaces(): ProgramCall {
    const { cwd, places } = this.shell;
    if (cwd !== undefined || places.length === 0) return this;
    return Object.create(this, { cwd: { value: places } });
  }

  get separators(): string | undefined {
    return separatorsOf(this.shell);
  }

  get options(): ParsedOptions {
    this.parsed ??= parseOptions(this.args, this.grammar);
    return this.parsed;
  }
}

/** Replaces the link at the beginning of a path by its target. The link itself stays: `rm x` deletes a link, not its target. */
function followLink(arg: Arg, links: Walk['links'], cwd: string | undefined): Arg {
  const first = prefixOf(arg);
  const slash = first.lastIndexOf('/');
  if (slash < 0) return arg;
  const folder = first.slice(0, slash);
  const target = links.get(normalisePath(folder, cwd) ?? relativePath(folder));
  return target === undefined
    ? arg
    : toArg(
        [`${target}${first.slice(slash)}`, ...(arg.text === undefined ? arg.pieces.slice(1) : [])],
        arg,
        arg.many,
      );
}

function homeOf(walk: Walk, home: Variable | undefined): string {
  const value = home?.kind === 'text' ? home.values[0] : undefined;
  return (value && textOf(value)) ?? walk.home;
}

function runUnknown(walk: Walk, head: Arg, args: readonly Arg[], scope: WalkScope, how: RunMode): Output {
  const via = how.via ?? scope.via;
  const subject = via === undefined ? 'The program' : `The program that ${via} would start`;
  const reason = `${subject} is not allowed, because its name cannot be known before it runs`;
  const hint = 'Write out the name of the program.';
  walk.problems.push({
    scope: 'finite',
    rule: 'unknown_program',
    reason,
    hint,
    pos: head.pos,
    end: head.end,
  });
  // `$(which rm) -rf /` is judged as `rm`, because of its options.
  if (/^-[a-z]*(?:rf|fr)[a-z]*$/i.test(args[0]?.text ?? ''))
    keepDanger(walk, () => runProgram(walk, [knownArg('rm', head), ...args], scope.fork(), how));
  // In `$SUDO rm …` an empty `$SUDO` makes `rm` the program, so check the rest for danger too.
  if (head.many && args.length > 0) runProgram(walk, args, scope, how);
  return anyOutput;
}

function recordFunction({ walk, scope, span, name, args }: NamedCall, output: Output): Output {
  const { cwd } = scope.shell;
  walk.invocations.push({
    name,
    args,
    via: scope.via,
    needsListing: false,
    cwd,
    pos: span.pos,
    end: span.end,
  });
  return output;
}

/** Judges the text of an alias. The program of that name is judged too, since `expand_aliases` may be off. */
function runAlias({ walk, scope, span, name, args }: NamedCall, text: string): void {
  const words = args.map(({ pieces }) => pieces.map(asWord).join(''));
  walk.text(
    [text, ...words].join(' '),
    span,
    scope.with({ within: span, aliases: [...scope.aliases, name] }),
  );
}

/** Writes a piece as part of a word in shell text. */
function asWord(piece: Piece): string {
  if (typeof piece === 'string') return `'${piece.replaceAll("'", "'\\''")}'`;
  return piece.hole === 'glob' && /^(?:[*?]|\[[\w-]+\])$/.test(piece.text) ? piece.text : '"$unknown_word"';
}
