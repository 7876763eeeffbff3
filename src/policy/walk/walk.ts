// The interface through which the files of this folder call one another.
//
// Evaluating shell code is recursive: a command expands words, a word runs substitutions, and a substitution is a script
// of commands. If the files imported each other for that, they would form import cycles. They receive a `Walk` instead,
// and its only class (`CommandWalk` in create-walk.ts) forwards most methods to the free function that implements them.
import type { ArithmeticExpression, CompoundList, ParsedScript, PipelineNode, Word } from 'unbash';
import type { Arg, TextSpan, Value } from '../words/arg.ts';
import type { NacreFiles } from '../words/nacre-files.ts';
import type { Output } from '../words/output.ts';
import type { LiteralMarks } from './literal-marks.ts';
import type { WalkScope } from './scope.ts';
import type { InputPosition } from './shared-input.ts';
import type { Chunk } from './split-fields.ts';
import type { CommandProblem, Invocation } from './survey.ts';
import type { Variable } from './variable.ts';

/** How bash reads a text that it evaluates again. */
export type Reevaluation = 'arithmetic' | 'name' | 'prompt';

/** A write to a file that is not known. */
export interface UnknownWrite extends TextSpan {
  readonly program: string | undefined;
  /** True if the name of the file is read from another file. */
  readonly isRead: boolean;
}

/** One walk over one command: its findings, and the methods through which the files of this folder call each other. */
export interface Walk {
  readonly home: string;
  readonly ownFiles: NacreFiles;
  /** Symbolic links that the command makes: the resolved target by the resolved name. */
  readonly links: Map<string, string>;
  /** True if `$_` may be used somewhere, so that the last word of each command must be tracked. */
  readonly usesLastWord: boolean;
  readonly invocations: Invocation[];
  readonly problems: CommandProblem[];
  /** Function bodies and traps, judged at the end unless `called` is set by then. */
  readonly deferred: { readonly tracker: { called: boolean }; readonly judge: () => void }[];
  /** Variables that a trap may change between any two commands. */
  readonly volatile: Set<string>;
  /** Every assignment so far, in order. */
  readonly assigned: (readonly [name: string, variable: Variable])[];
  /** The literal texts so far, and arithmetic expressions on values of unknown origin. */
  readonly literals: LiteralMarks;
  /** Contents of the files that the command has written so far, by `fileKey`. */
  readonly files: Map<string, Output>;
  /** The input of descriptors other than stdin, by their number. */
  readonly inputs: Map<string, Output>;
  /** The files among them that are written more than once. */
  readonly writtenTwice: Set<string>;
  /** The files among them that commands before the write may read, in a loop or while another command runs. */
  readonly writtenLater: Set<string>;
  /** Writes to files that are not known and may be protected. */
  readonly unknownWrites: UnknownWrite[];
  /** Problems of text that a filter changes before it is run; `judgeHidden` reports them if it finds no other danger. */
  readonly disguised: CommandProblem[];
  /** The inputs of which a program has read a part, and how far. */
  readonly partlyRead: Map<Output, InputPosition>;
  /** True if patterns match hidden names, as after `shopt -s dotglob`. */
  matchesHidden: boolean;
  /** True after a command in the background. */
  hasBackground: boolean;
  /** Counts steps; throws `PolicyLimitError` at the limit. */
  spend(steps: number): void;
  /** Returns a new id for a pipeline. */
  nextPipelineId(): number;
  /** Walks a parsed script in `scope`. */
  script(script: ParsedScript, scope: WalkScope): Output;
  /** Walks a pipeline or a single command. */
  node(node: PipelineNode, scope: WalkScope): Output;
  /** Walks the body of a branch or a loop. */
  body(body: CompoundList, scope: WalkScope): Output;
  /** Parses text and walks it. */
  text(text: string, span: TextSpan, scope: WalkScope): Output;
  /** Walks a word that a shell reads as a script. If part of it is unknown, reports that and checks the rest for danger. */
  runText(text: Arg, scope: WalkScope): Output;
  /** Walks a substitution in a subshell and returns its output. */
  capture(script: ParsedScript, scope: WalkScope): Output;
  /** Expands a word that bash does not split, to every value it may have. */
  single(word: Word, scope: WalkScope, quoted?: boolean): readonly Value[];
  /** Assigns a variable and judges what its name implies: code it chooses, evaluation, references. */
  assign(
    name: string,
    variable: Variable,
    span: TextSpan,
    scope: WalkScope,
    how?: 'plain' | 'exported',
  ): void;
  /** Splits a value at `IFS` into chunks, unless it is quoted. */
  split(value: Value, quoted: boolean, scope: WalkScope): Chunk[];
  /** Walks an arithmetic expression: its substitutions, the variables it reads and those it assigns. */
  arithmetic(expression: ArithmeticExpression | undefined, text: string, scope: WalkScope): void;
  /** Judges text that bash evaluates again, such as a subscript or an arithmetic operand. */
  evaluate(text: string | Value, as: Reevaluation, span: TextSpan, scope: WalkScope): void;
  /** Judges a program and everything it runs. */
  run(argv: readonly Arg[], scope: WalkScope, how: RunMode): Output;
  /** Like `run`, with the name and the arguments as separate parameters. */
  call(head: Arg, args: readonly Arg[], scope: WalkScope, how: RunMode): Output;
  /** Judges a file that would be written. */
  write(target: Arg, program: string | undefined, scope: WalkScope): void;
}

/** A point of the walk: the scope, and the span at which problems are reported. */
export interface WalkSite {
  readonly walk: Walk;
  readonly scope: WalkScope;
  readonly span: TextSpan;
}

/** How a program is run: by the shell with its functions and builtins, by `builtin` or `command`, or by program `via`. */
export interface RunMode {
  readonly by: 'shell' | 'builtin' | 'program';
  readonly via?: string | undefined;
}
