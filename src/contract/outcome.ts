import type { Enforcement } from './isolation.ts';
import type { EndCause, JobStatus, ProcessRef, Stream } from './job.ts';
import type { Resources } from './limits.ts';
import type { SessionEnd } from './session.ts';

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
  /** SHA-256 of each output, in hexadecimal digits. */
  readonly digests?: Readonly<Record<Stream, string>> | undefined;
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
  /** How it left its persistent shell; absent where it had a shell of its own. */
  readonly session?: SessionEnd | undefined;
  /** How long it stood in line for that shell. */
  readonly wait?: { readonly ahead: number; readonly waitedMs: number } | undefined;
  /** What was run in place of the command as it was asked for. */
  readonly rewrittenCommand?: string | undefined;
  /** What went wrong beside the command, such as an outcome that could not be recorded. */
  readonly warnings: readonly string[];
}
