// Values that programs compare with, so that they need no literals of their own.
import type { JobStatus } from '../../contract/job.ts';

/** Status of a shell: pending, running, then completed, failed, timeout or killed. */
export const ShellStatus = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMEOUT: 'timeout',
  KILLED: 'killed',
} as const satisfies { [Status in SpecifiedStatus as Uppercase<Status>]: Status };

/** One of the values of `ShellStatus`. */
export type ShellStatus = SpecifiedStatus;

type SpecifiedStatus = Exclude<JobStatus, 'unreachable' | 'lost'>;

/** The specification has six states: a shell that may still run is `running`, and one without a known end has `failed`. */
export function toShellStatus(status: JobStatus): ShellStatus {
  if (status === 'unreachable') return 'running';
  return status === 'lost' ? 'failed' : status;
}

/** Category of a `FunctionTool`; programs may use others for their own tools. */
export const ToolCategory = { EXECUTION: 'execution' } as const;
