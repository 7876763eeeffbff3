import type { ProgramCall } from '../options/program-call.ts';
import type { Arg } from '../words/arg.ts';

/** What makes a call dangerous: the word and the reason. */
export interface DangerFound {
  readonly at: Arg;
  readonly reason: string;
}

/** One kind of danger. */
export interface DangerRule {
  /** A stable name, such as `recursive_delete`. */
  readonly rule: string;
  readonly programs: readonly string[] | RegExp;
  readonly test: (call: ProgramCall) => DangerFound | undefined;
  /** Commands that it stops under `*`. */
  readonly matches: readonly string[];
  /** Commands that look like them and run. */
  readonly spares: readonly string[];
}
