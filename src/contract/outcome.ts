import type { CommandChanges } from './changes.ts';
import type { Enforcement } from './isolation.ts';
import type { EndCause, JobStatus, ProcessRef, ProtectedUse, Stream } from './job.ts';
import type { Resources } from './limits.ts';
import type { SessionEnd } from './session.ts';

/** An amount of output: characters, or about how many bytes of a long stream, and lines if they were counted. */
export interface LeftOut {
  readonly lines?: number | undefined;
  readonly chars?: number | undefined;
  readonly bytes?: number | undefined;
}

/** The result of a command that ran, successful or not, with its output as text. */
export interface Outcome {
  readonly id: string;
  readonly status: Exclude<JobStatus, 'pending' | 'running' | 'unreachable'>;
  readonly cause: EndCause;
  /** Null if it is not known (`supervision_lost`, `worker_lost`). */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly detail: string | null;
  readonly cwd: string;
  readonly durationMs: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** SHA-256 of each stream in hex. */
  readonly digests?: Readonly<Record<Stream, string>> | undefined;
  readonly truncated: boolean;
  /** The amount left out of `stdout` and `stderr`; absent if nothing was. */
  readonly leftOut?: LeftOut | undefined;
  readonly leftRunning: readonly ProcessRef[];
  /** Daemons that keep running until the server ends, as the settings allow. */
  readonly kept: readonly ProcessRef[];
  readonly survivors: readonly ProcessRef[];
  readonly deniedHosts: readonly string[];
  readonly deniedPrograms?: readonly string[] | undefined;
  readonly protectedUse?: ProtectedUse | undefined;
  readonly withheldEnv: readonly string[];
  /** The isolation enforced on it; null for a command that never ran. */
  readonly enforcement: Enforcement | null;
  /** The resources that its process tree has used; null for a command that never ran. */
  readonly resources: Resources | null;
  /** The state of its persistent shell afterwards; absent if it ran in a new shell. */
  readonly session?: SessionEnd | undefined;
  /** The files that it has changed, if they are tracked or held; absent if it has changed none. */
  readonly changes?: CommandChanges | undefined;
  /** A sentence about changes that could not be tracked, held or applied. */
  readonly changesNote?: string | undefined;
  /** How many commands were ahead of it in the queue for that shell, and how long it waited. */
  readonly wait?: { readonly ahead: number; readonly waitedMs: number } | undefined;
  /** The script that ran instead of the requested one, after `quotePaths`. */
  readonly rewrittenCommand?: string | undefined;
  /** Problems that did not affect the command itself, such as an outcome that could not be recorded. */
  readonly warnings: readonly string[];
}
