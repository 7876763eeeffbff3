import type { ArithmeticExpression, CompoundList, ParsedScript, PipelineNode, Word } from 'unbash';
import { type Arg, mayExpand, type Span } from '../words/arg.ts';
import { limits } from '../words/limits.ts';
import type { Scope } from './scope.ts';
import type { Value, Variable } from './shell.ts';
import type { Chunk } from './split-fields.ts';
import type { Invocation, Problem } from './survey.ts';

/** Text that a program reads or prints, as far as it is known; `more` says that other text may come with it. */
export interface Output {
  readonly text: string;
  readonly more: boolean;
  /** Text of the command that may be in what is not known; arithmetic may still evaluate it. */
  readonly from?: string | undefined;
  /** All that may be printed, where `more` is true only because a part of the text may be left out. */
  readonly forms?: Forms;
}

/** Nothing is printed. */
export const silent: Output = { text: '', more: false };

/** Anything may be printed. */
export const anyOutput: Output = { text: '', more: true };

/** What a program can read from stdin: nothing at all, or text. */
export type Stdin = 'none' | Output;

/** What two commands print one after the other. */
export function joinOutput(one: Output, other: Output): Output {
  if (other.text === '' && other.from === undefined && (!other.more || (one.more && !one.forms))) return one;
  const from = one.from === undefined ? other.from : one.from + (other.from ?? '');
  const more = one.more || other.more;
  return { text: one.text + other.text, more, from, forms: more ? joinForms(one, other) : undefined };
}

/** What a command prints that may be left out. */
export function skippable(output: Output): Output {
  if (output.text === '' && !output.more) return output;
  const forms = formsOf(output);
  return { ...output, more: true, forms: forms && [...forms, ''] };
}

function joinForms(one: Output, other: Output): Forms {
  return crossForms(formsOf(one), formsOf(other));
}

/** All texts that may be printed; undefined when they are not known, or too many. */
export type Forms = readonly string[] | undefined;

/** The forms of an output. */
export function formsOf({ text, more, forms }: Output): Forms {
  return more ? forms : [text];
}

/** Each form of one with each of another behind it. */
export function crossForms(one: Forms, other: Forms): Forms {
  if (one === undefined || other === undefined || one.length * other.length > limits.values) return undefined;
  const [before] = one;
  const [after] = other;
  if (one.length === 1 && other.length === 1 && before !== undefined && after !== undefined)
    return [before + after];
  return one.flatMap((left) => other.map((right) => left + right));
}

/** What may be printed, or some of it, or something made of it. */
export function perhapsOutput(outputs: readonly Output[]): Output {
  if (!outputs.some(mayExpandIn)) return anyOutput;
  let from = '';
  for (const output of outputs) from += output.text + (output.from ?? '');
  return { text: '', more: true, from: from.slice(0, limits.textLength) };
}

function mayExpandIn({ text, from }: Output): boolean {
  return mayExpand(text) || (from !== undefined && mayExpand(from));
}

/** What bash takes a text for when it evaluates it once more. */
export type Reevaluation = 'arithmetic' | 'name' | 'prompt';

/** One walk over one command: what it has found, and the functions by which its parts reach each other. */
export interface Walk {
  readonly home: string;
  /** Whether `$_` may be used somewhere: the last word of each command has to be remembered then. */
  readonly usesLast: boolean;
  readonly invocations: Invocation[];
  readonly problems: Problem[];
  readonly functions: { readonly tracker: { called: boolean }; readonly judge: () => void }[];
  /** Variables that a trap may change between any two commands. */
  readonly volatile: Set<string>;
  /** What variables were given so far, in order. */
  readonly given: (readonly [name: string, variable: Variable])[];
  /** Counts work and stops the walk at the limit. */
  spend(steps: number): void;
  nextNumber(): number;
  /** Walks a parsed script in the given scope. */
  script(script: ParsedScript, scope: Scope): Output;
  node(node: PipelineNode, scope: Scope): Output;
  /** Walks the commands of a branch or a loop. */
  body(body: CompoundList, scope: Scope): Output;
  /** Parses text and walks it. */
  text(text: string, span: Span, scope: Scope): Output;
  /** Has a shell read a word as a script; one that is not fully known is a problem, and still looked through for danger. */
  handText(text: Arg, scope: Scope): Output;
  /** Walks a substitution in a subshell and says what it prints. */
  capture(script: ParsedScript, scope: Scope): Output;
  /** The one text that a word has where no splitting takes place, in all its possible forms. */
  single(word: Word, scope: Scope, quoted?: boolean): readonly Value[];
  /** Gives a variable a value, with all that follows from its name. */
  assign(name: string, variable: Variable, span: Span, scope: Scope, how?: 'plain' | 'exported'): void;
  /** The chunks of one value, split at blanks unless it is quoted. */
  split(value: Value, quoted: boolean, scope: Scope): Chunk[];
  /** Looks at an arithmetic expression: its substitutions, the variables it reads and those it sets. */
  arithmetic(expression: ArithmeticExpression | undefined, text: string, scope: Scope): void;
  /** Looks at text that bash evaluates once more: a subscript, an arithmetic operand. */
  evaluate(text: string | Value, as: Reevaluation, span: Span, scope: Scope): void;
  /** Judges a program and whatever it runs in turn. */
  run(argv: readonly Arg[], scope: Scope, how: RunOptions): Output;
  /** The same for a name and its arguments. */
  call(head: Arg, args: readonly Arg[], scope: Scope, how: RunOptions): Output;
  /** Notes that a file would be written. */
  write(target: Arg, program: string | undefined, scope: Scope): void;
}

/** Who runs a program: the shell with its functions and builtins, the shell without functions, or a program. */
export interface RunOptions {
  readonly by: 'shell' | 'builtin' | 'program';
  readonly via?: string | undefined;
}
