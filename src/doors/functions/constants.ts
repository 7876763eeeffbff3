// Values that programs compare with, so that they need no literals of their own.
import type { JobStatus } from '../../contract/job.ts';

/** Status of a shell: pending, running or unreachable, then completed, failed, timeout, killed or lost. */
export const ShellStatus = {
  PENDING: 'pending',
  RUNNING: 'running',
  COMPLETED: 'completed',
  FAILED: 'failed',
  TIMEOUT: 'timeout',
  KILLED: 'killed',
  UNREACHABLE: 'unreachable',
  LOST: 'lost',
} as const satisfies Record<Uppercase<JobStatus>, JobStatus>;

/** One of the values of `ShellStatus`. */
export type ShellStatus = JobStatus;

/** Category of a `FunctionTool`; programs may use others for their own tools. */
export const ToolCategory = { EXECUTION: 'execution' } as const;
