import { constants } from 'node:os';
import type { FailureCode } from '../contract/failure.ts';

/** What was looked at is not as it should be. */
export const faultyExit = 1;
/** A workflow that cannot be run as it is written. */
export const invalidExit = 2;
/** The command had no time left. */
export const timedOutExit = 124;
/** What failed is nacre's part, not the command's. */
export const failedExit = 125;
/** The command may not run. */
export const refusedExit = 126;
/** What a shell adds to the number of the signal that ended a command. */
export const signalledExit = 128;

/** As a shell tells of a program that a signal has ended; `signal` may be no name of one. */
export function toSignalledExit(signal: unknown, otherwise: 'SIGINT' | 'SIGTERM'): number {
  const signals: Readonly<Record<string, number>> = constants.signals;
  return signalledExit + (signals[String(signal)] ?? constants.signals[otherwise]);
}

/** As a shell tells of a program that Ctrl-C has ended. */
export const interruptedExit = signalledExit + constants.signals.SIGINT;

/** The exit code of `nacre run` for everything that keeps a command from running. */
export const exitCodes = {
  invalid_request: failedExit,
  cwd_invalid: failedExit,
  cwd_not_allowed: refusedExit,
  cwd_roots_invalid: failedExit,
  policy_denied: refusedExit,
  approval_required: refusedExit,
  program_not_found: 127,
  job_not_found: failedExit,
  audit_unavailable: failedExit,
  resources_unavailable: failedExit,
  isolation_unavailable: failedExit,
  shutting_down: failedExit,
  cancelled: interruptedExit,
  settings_invalid: failedExit,
  internal: failedExit,
} satisfies Record<FailureCode, number>;
