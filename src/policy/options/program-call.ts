import type { Arg } from '../words/arg.ts';
import type { Stdin } from '../words/output.ts';
import type { ParsedOptions } from './parse-options.ts';

/** One call of a program. */
export interface ProgramCall {
  /** The program's name without its directory. */
  readonly name: string;
  /** The words after the name. */
  readonly args: readonly Arg[];
  /** The words taken apart by the entry's grammar. */
  readonly options: ParsedOptions;
  readonly stdin: Stdin;
  /** True when sh runs it, whose builtins print in another way than bash's. */
  readonly posix: boolean;
  /** Where it may run; undefined when that is not known. */
  readonly cwd: readonly string[] | undefined;
  readonly home: string;
  /** The name as a word, for effects that concern the whole call. */
  readonly self: Arg;
}
