// The interface through which the files of this folder call one another.
//
// Evaluating shell code is recursive: a command expands words, a word runs substitutions, and a substitution is a script
// of commands. If the files imported each other for that, they would form import cycles. They receive a `Walk` instead,
// and its only class (`CommandWalk` in create-walk.ts) forwards most methods to the free function that implements them.
import type { ArithmeticExpression, CompoundList, ParsedScript, PipelineNode, Word } from 'unbash';
import type { Arg, TextSpan, Value } from '../words/arg.ts';
import type { Output } from '../words/output.ts';
import type { WalkScope } from './scope.ts';
import type { Chunk } from './split-fields.ts';
import type { CommandProblem, Invocation } from './survey.ts';
import type { Variable } from './variable.ts';

/** What bash takes a text for when it evaluates it once more. */
export type Reevaluation = 'arithmetic' | 'name' | 'prompt';

/** One walk over one command: what it has found, and the functions by which its parts reach each other. */
export interface Walk {
  readonly home: string;
  /** Whether `$_` may be used somewhere: the last word of each command has to be remembered then. */
  readonly usesLastWord: boolean;
  readonly invocations: Invocation[];
  readonly problems: CommandProblem[];
  readonly deferred: { readonly tracker: { called: boolean }; readonly judge: () => void }[];
  /** Variables that a trap may change between any two commands. */
  readonly volatile: Set<string>;
  /** What variables were given so far, in order. */
  readonly assigned: (readonly [name: string, variable: Variable])[];
  /** Counts work and stops the walk at the limit. */
  spend(steps: number): void;
  nextPipelineId(): number;
  /** Walks a parsed script in the given scope. */
  script(script: ParsedScript, scope: WalkScope): Output;
  node(node: PipelineNode, scope: WalkScope): Output;
  /** Walks the commands of a branch or a loop. */
  body(body: CompoundList, scope: WalkScope): Output;
  /** Parses text and walks it. */
  text(text: string, span: TextSpan, scope: WalkScope): Output;
  /** Has a shell read a word as a script; one that is not fully known is a problem, and still looked through for danger. */
  runText(text: Arg, scope: WalkScope): Output;
  /** Walks a substitution in a subshell and says what it prints. */
  capture(script: ParsedScript, scope: WalkScope): Output;
  /** The one text that a word has where no splitting takes place, in all its possible forms. */
  single(word: Word, scope: WalkScope, quoted?: boolean): readonly Value[];
  /** Gives a variable a value, with all that follows from its name. */
  assign(
    name: string,
    variable: Variable,
    span: TextSpan,
    scope: WalkScope,
    how?: 'plain' | 'exported',
  ): void;
  /** The chunks of one value, split at blanks unless it is quoted. */
  split(value: Value, quoted: boolean, scope: WalkScope): Chunk[];
  /** Looks at an arithmetic expression: its substitutions, the variables it reads and those it sets. */
  arithmetic(expression: ArithmeticExpression | undefined, text: string, scope: WalkScope): void;
  /** Looks at text that bash evaluates once more: a subscript, an arithmetic operand. */
  evaluate(text: string | Value, as: Reevaluation, span: TextSpan, scope: WalkScope): void;
  /** Judges a program and whatever it runs in turn. */
  run(argv: readonly Arg[], scope: WalkScope, how: RunMode): Output;
  /** The same for a name and its arguments. */
  call(head: Arg, args: readonly Arg[], scope: WalkScope, how: RunMode): Output;
  /** Notes that a file would be written. */
  write(target: Arg, program: string | undefined, scope: WalkScope): void;
}

/** A point of the walk: the scope there, and the span at which problems are reported. */
export interface WalkSite {
  readonly walk: Walk;
  readonly scope: WalkScope;
  readonly span: TextSpan;
}

/** Who runs a program: the shell with its functions and builtins, the shell without functions, or a program. */
export interface RunMode {
  readonly by: 'shell' | 'builtin' | 'program';
  readonly via?: string | undefined;
}
