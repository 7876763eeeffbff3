import type { ProgramCall } from '../options/program-call.ts';
import type { Arg } from '../words/arg.ts';

/** The word that makes a call dangerous, and the reason. */
export interface DangerFound {
  readonly at: Arg;
  readonly reason: string;
}

/** A rule that recognises one kind of danger in the calls of some `programs`. */
export interface DangerRule {
  /** A stable name, such as `recursive_delete`. */
  readonly rule: string;
  readonly programs: readonly string[] | RegExp;
  readonly test: (call: ProgramCall) => DangerFound | undefined;
  /** Example commands that the rule must refuse under `*`. */
  readonly matches: readonly string[];
  /** Similar commands that must be allowed. */
  readonly spares: readonly string[];
}
