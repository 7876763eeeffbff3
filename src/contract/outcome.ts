import type { Enforcement } from './isolation.ts';
import type { EndCause, JobStatus, ProcessRef } from './job.ts';
import type { Resources } from './limits.ts';

/** What came of a command that ran: its result, whatever that is, and its output as text. */
export interface Outcome {
  readonly id: string;
  readonly status: Exclude<JobStatus, 'pending' | 'running'>;
  readonly cause: EndCause;
  readonly exitCode: number;
  readonly signal: string | null;
  readonly detail: string | null;
  readonly cwd: string;
  readonly durationMs: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  readonly truncated: boolean;
  readonly leftRunning: readonly ProcessRef[];
  /** Daemons that stay until the server ends, because the settings let them. */
  readonly kept: readonly ProcessRef[];
  readonly survivors: readonly ProcessRef[];
  readonly deniedHosts: readonly string[];
  readonly withheldEnv: readonly string[];
  /** What was enforced on it; null for what never ran. */
  readonly enforcement: Enforcement | null;
  /** What its whole tree has used; null for what never ran. */
  readonly resources: Resources | null;
  /** What went wrong beside the command, such as an outcome that could not be recorded. */
  readonly warnings: readonly string[];
}
