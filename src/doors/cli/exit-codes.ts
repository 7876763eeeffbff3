import { constants } from 'node:os';
import type { FailureCode } from '../../contract/failure.ts';

/** What failed is nacre's part, not the command's. */
export const failedExit = 125;
/** What a shell adds to the number of the signal that ended a command. */
export const signalledExit = 128;

/** The exit code of `nacre run` for everything that keeps a command from running. */
export const exitCodes = {
  invalid_request: failedExit,
  cwd_invalid: failedExit,
  cwd_not_allowed: 126,
  cwd_roots_invalid: failedExit,
  policy_denied: 126,
  approval_required: 126,
  program_not_found: 127,
  job_not_found: failedExit,
  audit_unavailable: failedExit,
  resources_unavailable: failedExit,
  isolation_unavailable: failedExit,
  shutting_down: failedExit,
  cancelled: signalledExit + constants.signals.SIGINT,
  settings_invalid: failedExit,
  internal: failedExit,
} satisfies Record<FailureCode, number>;
