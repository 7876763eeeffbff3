import { dangerOf, dangerRulesFor } from '../danger/danger.ts';
import type { DangerRule } from '../danger/danger-rule.ts';
import { noOptions, type OptionGrammar } from '../options/grammar.ts';
import { type ParsedOptions, parseOptions } from '../options/parse-options.ts';
import type { ProgramCall } from '../options/program-call.ts';
import { programNamed } from '../programs/catalog.ts';
import { controlBuiltins, outsideControls } from '../programs/control.ts';
import { decodedText } from '../programs/decoded-text.ts';
import { isPlainProgram } from '../programs/plain-programs.ts';
import { printedKind } from '../programs/printed-kind.ts';
import type { ProgramEntry } from '../programs/program.ts';
import { unknownProgramEffects } from '../programs/unknown-program.ts';
import { type Arg, foreignText, mayExpand, type Piece, textOf } from '../words/arg.ts';
import {
  anyOutput,
  foreignOutput,
  numberOutput,
  type Output,
  placeListed,
  possibleOutput,
  type Stdin,
  silent,
} from '../words/output.ts';
import { baseName } from '../words/paths.ts';
import { applyEffects } from './apply-effects.ts';
import { callFunction } from './functions.ts';
import { judgeHome } from './judge-home.ts';
import { judgeOwn } from './judge-own.ts';
import type { WalkScope } from './scope.ts';
import { derivedHole, type Variable } from './variable.ts';
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
  if (facts.dangers.length > 0)
    for (const danger of dangerOf(call, facts.dangers))
      walk.problems.push({ scope: 'danger', program: name, ...danger });
  if (entry === undefined && !free && args.length > 1) findPassedDanger(site, how);
  if (free) return printsState(call, scope) ? anyOutput : silent;
  const decoded = decoders.has(base) ? decodedText(call) : undefined;
  const output = decoded ?? (applies ? entry.output?.(call) : undefined) ?? passedListing(call);
  if (typeof output === 'string') {
    walk.literals.note(output);
    return { text: output, more: false };
  }
  return unknownOutput(call, facts, inner, output);
}

/** Returns true if a builtin that needs no listing may print: `declare -p`, `set`, `cd -`. */
function printsState({ name, args }: ProgramCall, { shell }: WalkScope): boolean {
  if (name === 'set') return args.every(({ text }) => text === undefined || /^[-+]o$/.test(text));
  if (name === 'cd')
    return shell.variables.has('CDPATH') || args.some(({ text }) => text === undefined || text === '-');
  if (name === 'umask' || name === 'times') return true;
  if (!declaring.has(name)) return false;
  return args.every(({ text }) => text === undefined || /^[-+]/.test(text)) || args.some(hasPrintFlag);
}

const declaring = new Set('declare typeset local export readonly'.split(' '));

function hasPrintFlag({ text }: Arg): boolean {
  return text === undefined || /^-[a-zA-Z]*[pfF]/.test(text);
}

/** The output of a program that is not predictable: numbers, part of its input or words, or any text. */
function unknownOutput(
  call: ProgramCall,
  { echoes, isOpen, wraps }: ProgramFacts,
  inner: Output,
  output: (Output & { readonly more: true }) | undefined,
): Output {
  const kind = printedKind(call);
  if (kind === 'numbers') return numberOutput;
  const from = printedText(call, echoes, inner);
  const isOwn = isOpen || echoes === 'words' || kind === 'input' || (wraps && inner !== silent);
  const foreign = isOwn ? '' : foreignText;
  const counts = kind === 'counts' || (kind === 'input' && call.stdin !== 'none' && call.stdin.counts);
  if (from === undefined && foreign === '') return output ?? (isOpen ? numberOutput : anyOutput);
  // The usual case creates no object.
  if (from === undefined && output === undefined && !counts) return foreignOutput;
  const whole = (from ?? '') + foreign;
  if (output === undefined && !counts) return { text: '', more: true, from: whole };
  return { ...(output ?? anyOutput), from: whole, ...(counts && { counts }) };
}

/** A program that is not known may start the program that its arguments name, so these are checked for danger. */
function findPassedDanger({ walk, scope, name, args }: NamedCall, how: RunMode): void {
  if (how.via === unknownWrapper || isPlainProgram(baseName(name))) return;
  const at = args.findIndex(({ text }) => text !== undefined && destructive.test(text));
  if (at < 0) return;
  const problems = walk.problems.length;
  const invocations = walk.invocations.length;
  runProgram(walk, args.slice(at), scope.fork(), { by: 'program', via: unknownWrapper });
  const danger = walk.problems.splice(problems).filter((problem) => problem.scope === 'danger');
  walk.problems.push(...danger);
  walk.invocations.splice(invocations);
}

const unknownWrapper = 'a program';
const destructive =
  /^(?:\/(?:usr\/)?s?bin\/)?(?:rm|dd|mkfs(?:\.\w+)?|shred|wipefs|chmod|chown|find|mv|kill)$/;

/** Programs that print all lines of their input, in another order or form. */
const passing = new Set('cat column paste rev shuf sort tac tee tr uniq'.split(' '));

/** Words and listings stay in the output if they are sorted or their separators change. */
function passedListing({ name, stdin }: ProgramCall): (Output & { more: true }) | undefined {
  if (stdin === 'none' || stdin.text === '' || !passing.has(name)) return undefined;
  return stdin.more && placeListed(stdin.text) === undefined ? undefined : { text: stdin.text, more: true };
}

/** Text that a program may print: from its arguments or stdin, or from the programs it starts. */
function printedText(
  { args, stdin }: ProgramCall,
  echoes: ProgramFacts['echoes'],
  inner: Output,
): string | undefined {
  const own = echoes === 'words' ? textIn(args) : echoes === 'stdin' ? textFrom(stdin) : undefined;
  const { from } = inner === silent ? inner : possibleOutput([inner]);
  return own === undefined ? from : own + (from ?? '');
}

function textIn(args: readonly Arg[]): string | undefined {
  if (!args.some(mayExpandInArg)) return undefined;
  let from = '';
  for (const arg of args) from += ` ${arg.text ?? derivedHole(arg.pieces).from ?? ''}`;
  return from;
}

function mayExpandInArg(arg: Arg): boolean {
  return arg.text === undefined ? derivedHole(arg.pieces).from !== undefined : mayExpand(arg.text);
}

function textFrom(stdin: Stdin): string | undefined {
  if (stdin === 'none' || (stdin.text === '' && stdin.from === undefined)) return undefined;
  return derivedHole([stdin.text, stdin.from ?? '']).from;
}

/** A call whose `options` are parsed on first access. */
class LazyCall implements ProgramCall {
  readonly name: string;
  readonly args: readonly Arg[];
  readonly stdin: ProgramCall['stdin'];
  readonly posix: boolean;
  readonly cwd: ProgramCall['cwd'];
  readonly home: string;
  readonly files: ProgramCall['files'];
  readonly self: Arg;
  private readonly grammar: OptionGrammar;
  private parsed: ParsedOptions | undefined;

  constructor({ walk, scope, span, args }: NamedCall, name: string, grammar: OptionGrammar, home: string) {
    this.name = name;
    this.args = args;
    this.grammar = grammar;
    this.stdin = scope.stdin;
    this.posix = scope.shell.posix;
    this.cwd = scope.shell.cwd;
    this.home = home;
    this.files = walk.files;
    this.self = span;
  }

  get options(): ParsedOptions {
    this.parsed ??= parseOptions(this.args, this.grammar);
    return this.parsed;
  }
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

/** Facts about a program that follow from its name alone. */
export interface ProgramFacts {
  readonly base: string;
  readonly entry: ProgramEntry | undefined;
  readonly dangers: readonly DangerRule[];
  /** True if it needs no listing when the shell runs it, such as `cd`. */
  readonly freeInShell: boolean;
  /** True if it needs no listing when a program starts it, such as `true`. */
  readonly freeOutside: boolean;
  /** Input that its output may contain: the arguments of `echo`, the stdin of `cat`. */
  readonly echoes: 'words' | 'stdin' | undefined;
  /** True if it runs code that is not known before, or is not known: it needs no arithmetic of bash to run programs. */
  readonly isOpen: boolean;
  /** True if it prints nothing itself and starts another program, as `env` does. */
  readonly wraps: boolean;
}

const maxNames = 512;
// A longer substring may be a slice that keeps the whole command in memory.
const maxNameLength = 12;
const known = new Map<string, ProgramFacts>();

/** Returns the facts for a program name as written in the command; cached, because the same few names repeat. */
export function programFacts(name: string): ProgramFacts {
  const found = known.get(name);
  if (found !== undefined) return found;
  const facts = factsOf(name);
  if (name.length > maxNameLength) return facts;
  if (known.size >= maxNames) known.clear();
  known.set(name, facts);
  return facts;
}

function factsOf(name: string): ProgramFacts {
  const base = baseName(name);
  return {
    base,
    entry: programNamed(base),
    dangers: dangerRulesFor(base),
    freeInShell: name === base && controlBuiltins.has(name),
    freeOutside: name === base && outsideControls.has(name),
    echoes: printing.has(base) ? 'words' : reading.has(base) ? 'stdin' : undefined,
    isOpen: isOpenProgram(base),
    wraps: wrapping.has(base),
  };
}

function isOpenProgram(base: string): boolean {
  const entry = programNamed(base);
  return (
    !isPlainProgram(base) &&
    !printingBuiltins.has(base) &&
    entry?.closed === undefined &&
    entry?.builtin !== 'only'
  );
}

/** Builtins without an entry that print text of the command. */
const printingBuiltins = new Set('caller dirs history type'.split(' '));
const decoders = new Set(['rev', 'tr', 'xxd']);
const printing = new Set(['basename', 'dirname', 'echo', 'expr', 'printf']);
const wrapping = new Set(
  'builtin command doas env eval ionice nice nohup setsid stdbuf sudo time timeout xargs'.split(' '),
);
const reading = new Set(
  `awk base64 bc cat column comm cut dd egrep expand fgrep fmt fold gawk grep head iconv join jq nl paste pr rev rg sed shuf
    sort strings tac tail tee tr unexpand uniq xargs`.split(/\s+/),
);
