import type { Arg } from '../words/arg.ts';
import type { Output, Stdin } from '../words/output.ts';
import type { ParsedOptions } from './parse-options.ts';

/** One call of a program, the input of `effects` and of danger rules. */
export interface ProgramCall {
  /** The program's base name: `git` for `/usr/bin/git`. */
  readonly name: string;
  readonly args: readonly Arg[];
  /** The arguments, parsed with the entry's option grammar. */
  readonly options: ParsedOptions;
  readonly stdin: Stdin;
  /** True if `sh` runs it, whose builtins (`echo`, …) print differently from bash's. */
  readonly posix: boolean;
  /** The directories it may run in; undefined if unknown. */
  readonly cwd: readonly string[] | undefined;
  readonly home: string;
  /** Contents of the files that the command has written so far, by `fileKey`. */
  readonly files: ReadonlyMap<string, Output>;
  /** The input of descriptors other than stdin, by their number. */
  readonly inputs: ReadonlyMap<string, Output>;
  /** The word of the program name, for effects of the whole call. */
  readonly self: Arg;
  /** The value of IFS, whose characters separate the words that `read` assigns; undefined if unknown. */
  readonly separators: string | undefined;
}
