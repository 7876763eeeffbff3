import type { Arg, TextSpan } from '../words/arg.ts';

/** When a problem applies: always, under a finite list of names, with `danger: block`, with `file_writes: none`, or never (`note`). */
export type ProblemScope = 'always' | 'finite' | 'danger' | 'write' | 'note';

/** A reason not to run the command. */
export interface CommandProblem extends TextSpan {
  readonly scope: ProblemScope;
  /** A stable name, such as `unknown_program`. */
  readonly rule: string;
  readonly reason: string;
  readonly hint?: string | undefined;
  readonly program?: string | undefined;
  /** The protected path in its project, as the setting `unprotected` names it. */
  readonly protectedPath?: string | undefined;
}

/** A program that the command would start, with its arguments. */
export interface Invocation extends TextSpan {
  /** The name or path after expansion, such as `git` or `./run.sh`. */
  readonly name: string;
  readonly args: readonly Arg[];
  /** The program that starts it, such as `xargs`; undefined for the shell. */
  readonly via: string | undefined;
  /** False for control builtins such as `cd`, and for the command's own functions. */
  readonly needsListing: boolean;
  /** The directories it may run in; undefined if unknown. */
  readonly cwd: readonly string[] | undefined;
}

/** The findings of the walk over a command. */
export interface Survey {
  readonly invocations: readonly Invocation[];
  readonly problems: readonly CommandProblem[];
}
