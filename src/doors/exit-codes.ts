import { constants } from 'node:os';
import type { FailureCode } from '../contract/failure.ts';

/** A check found a problem (doctor, audit verify, check --file), a workflow step failed, or apply or undo left a conflict. */
export const problemExit = 1;
/** The file of `nacre workflow` is invalid. */
export const invalidExit = 2;
/** The command timed out, as with timeout(1). */
export const timedOutExit = 124;
/** nacre itself failed, not the command. */
export const failedExit = 125;
/** Policy refused the command. */
export const refusedExit = 126;
/** Added to the signal number, as shells do: 130 is SIGINT. */
export const signalExitBase = 128;

/** The exit code for the signal named `signal`, or for `otherwise` if it is not a signal name. */
export function toSignalExit(signal: unknown, otherwise: 'SIGINT' | 'SIGTERM'): number {
  const signals: Readonly<Record<string, number>> = constants.signals;
  return signalExitBase + (signals[String(signal)] ?? constants.signals[otherwise]);
}

/** The exit code after Ctrl-C (SIGINT). */
export const interruptedExit = signalExitBase + constants.signals.SIGINT;

/** The exit code of `nacre run` for each error that prevents a command from running. */
export const exitCodes = {
  invalid_request: failedExit,
  cwd_invalid: failedExit,
  cwd_not_allowed: refusedExit,
  cwd_roots_invalid: failedExit,
  policy_denied: refusedExit,
  approval_required: refusedExit,
  program_not_found: 127,
  cannot_execute: 126,
  job_not_found: failedExit,
  audit_unavailable: failedExit,
  resources_unavailable: failedExit,
  isolation_unavailable: failedExit,
  shutting_down: failedExit,
  closed: failedExit,
  cancelled: interruptedExit,
  settings_invalid: failedExit,
  internal: failedExit,
} satisfies Record<FailureCode, number>;
