import type { Arg, TextSpan } from '../words/arg.ts';

/** When a problem counts: for every list, only where a list names programs, as danger, or where no file may be written. */
export type ProblemScope = 'always' | 'finite' | 'danger' | 'write';

/** Something in the command that speaks against running it. */
export interface CommandProblem extends TextSpan {
  readonly scope: ProblemScope;
  /** A stable name, such as `unknown_program`. */
  readonly rule: string;
  readonly reason: string;
  readonly hint?: string | undefined;
  readonly program?: string | undefined;
}

/** A program that the command would start, with its arguments as far as they are known. */
export interface Invocation extends TextSpan {
  /** As written, decoded: a bare name or a path. */
  readonly name: string;
  readonly args: readonly Arg[];
  /** The program that starts it, when it is not the shell. */
  readonly via: string | undefined;
  /** False for control builtins and the command's own functions. */
  readonly needsListing: boolean;
  /** Where it may run; undefined when that is not known. */
  readonly cwd: readonly string[] | undefined;
}

/** Everything that the walk over a command has found. */
export interface Survey {
  readonly invocations: readonly Invocation[];
  readonly problems: readonly CommandProblem[];
}
