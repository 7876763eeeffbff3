import { dangerOf } from '../danger/danger.ts';
import { judgeHome } from '../judge-home.ts';
import { noOptions, type OptionGrammar } from '../options/grammar.ts';
import { type ParsedOptions, parseOptions } from '../options/parse-options.ts';
import { baseName } from '../paths.ts';
import { programNamed } from '../programs/catalog.ts';
import { controlBuiltins, outsideControls } from '../programs/control.ts';
import type { Call } from '../programs/program.ts';
import { applyEffects } from './apply-effects.ts';
import { type Arg, type Span, textOf } from './arg.ts';
import { callFunction } from './functions.ts';
import type { Scope } from './scope.ts';
import { madeFrom } from './shell.ts';
import {
  anyOutput,
  type Output,
  perhapsOutput,
  type RunOptions,
  type Stdin,
  silent,
  type Walk,
} from './walk.ts';

/** Judges one program and whatever it runs in turn; says what it prints. */
export function runProgram(walk: Walk, argv: readonly Arg[], scope: Scope, how: RunOptions): Output {
  const [head] = argv;
  return head === undefined ? silent : callProgram(walk, head, argv.slice(1), scope, how);
}

/** The same for a name and its arguments. */
export function callProgram(
  walk: Walk,
  head: Arg,
  args: readonly Arg[],
  scope: Scope,
  how: RunOptions,
): Output {
  walk.spend(2 + (args.length + 1) / 8);
  const name = head.text;
  if (name === undefined) return runUnknown(walk, head, args, scope, how);
  if (how.by === 'shell') {
    const alias = scope.shell.defined.aliases.get(name);
    if (alias !== undefined && !scope.aliases.includes(name)) runAlias(walk, name, alias, head, args, scope);
    const called = scope.shell.defined.functions.get(name);
    const output =
      called &&
      callFunction(walk, called, args, scope.aliases.length === 0 ? scope : scope.with({ aliases: [] }));
    if (called?.certain) return noteFunction(walk, name, args, head, scope, output ?? anyOutput);
  }
  return runNamed(walk, name, head, args, scope, how);
}

function runNamed(
  walk: Walk,
  name: string,
  head: Arg,
  args: readonly Arg[],
  scope: Scope,
  how: RunOptions,
): Output {
  const base = baseName(name);
  const free = name === base && (how.by === 'program' ? outsideControls : controlBuiltins).has(name);
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
  judgeHome(walk, base, head, scope);
  const entry = programNamed(base);
  const applies =
    entry !== undefined && !(entry.builtin === 'only' && (how.by === 'program' || name !== base));
  const grammar = (applies ? entry.options : undefined) ?? noOptions;
  const call = new ProgramCall(base, args, grammar, scope, homeOf(walk, scope), head);
  const inner = applies ? applyEffects(walk, entry.effects?.(call) ?? [], call, scope) : silent;
  for (const danger of dangerOf(call)) walk.problems.push({ scope: 'danger', program: name, ...danger });
  if (free) return silent;
  const output = applies ? entry.output?.(call) : undefined;
  if (typeof output === 'string') return { text: output, more: false };
  const from = passedOn(call, inner);
  return from === undefined ? (output ?? anyOutput) : { ...(output ?? anyOutput), from };
}

/** Programs that print their words, or what they read. */
const printing = new Set(['echo', 'printf', 'seq']);
const reading = new Set(
  `awk base64 cat column comm cut dd egrep expand fgrep fmt fold gawk grep head iconv join jq nl paste pr rev rg sed shuf
    sort strings tac tail tee tr unexpand uniq xargs`.split(/\s+/),
);

/** Text that a program may print: its own, or that of what it starts. */
function passedOn({ name, args, stdin }: Call, inner: Output): string | undefined {
  const own = printing.has(name) ? textIn(args) : reading.has(name) ? textFrom(stdin) : undefined;
  const { from } = inner === silent ? inner : perhapsOutput([inner]);
  return own === undefined ? from : own + (from ?? '');
}

function textIn(args: readonly Arg[]): string | undefined {
  let from = '';
  for (const arg of args) from += ` ${arg.text ?? madeFrom(arg.pieces).from ?? ''}`;
  return /[$`]/.test(from) ? from : undefined;
}

function textFrom(stdin: Stdin): string | undefined {
  if (stdin === 'none' || (stdin.text === '' && stdin.from === undefined)) return undefined;
  return madeFrom([stdin.text, stdin.from ?? '']).from;
}

/** A call whose words are taken apart only when somebody asks. */
class ProgramCall implements Call {
  readonly name: string;
  readonly args: readonly Arg[];
  readonly stdin: Call['stdin'];
  readonly posix: boolean;
  readonly cwd: Call['cwd'];
  readonly home: string;
  readonly self: Arg;
  private readonly grammar: OptionGrammar;
  private parsed: ParsedOptions | undefined;

  constructor(
    name: string,
    args: readonly Arg[],
    grammar: OptionGrammar,
    scope: Scope,
    home: string,
    self: Arg,
  ) {
    this.name = name;
    this.args = args;
    this.grammar = grammar;
    this.stdin = scope.stdin;
    this.posix = scope.shell.posix;
    this.cwd = scope.shell.cwd;
    this.home = home;
    this.self = self;
  }

  get options(): ParsedOptions {
    this.parsed ??= parseOptions(this.args, this.grammar);
    return this.parsed;
  }
}

function homeOf(walk: Walk, scope: Scope): string {
  const home = scope.shell.variables.get('HOME');
  const [value] = home?.kind === 'text' ? home.values : [];
  return (value && textOf(value)) ?? walk.home;
}

function runUnknown(walk: Walk, head: Arg, args: readonly Arg[], scope: Scope, how: RunOptions): Output {
  const via = how.via ?? scope.via;
  const who = via === undefined ? 'The program' : `The program that ${via} would start`;
  const reason = `${who} is not allowed, because its name cannot be known before it runs`;
  const hint = 'Write the name of the program out.';
  walk.problems.push({
    scope: 'finite',
    rule: 'unknown_program',
    reason,
    hint,
    pos: head.pos,
    end: head.end,
  });
  // `$SUDO rm …`: a word that vanishes leaves the next one in its place, and danger must be seen there too.
  if (head.many && args.length > 0) runProgram(walk, args, scope, how);
  return anyOutput;
}

function noteFunction(
  walk: Walk,
  name: string,
  args: readonly Arg[],
  span: Span,
  scope: Scope,
  output: Output,
): Output {
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

/** Whether an alias is expanded depends on options, so both its text and the program of that name are judged. */
function runAlias(
  walk: Walk,
  name: string,
  text: string,
  head: Arg,
  args: readonly Arg[],
  scope: Scope,
): void {
  const words = args.map((arg) =>
    arg.text === undefined ? '"$unknown_word"' : `'${arg.text.replaceAll("'", "'\\''")}'`,
  );
  walk.text(
    [text, ...words].join(' '),
    head,
    scope.with({ within: head, aliases: [...scope.aliases, name] }),
  );
}
