import type { Command } from './command.ts';
import type { AskedIsolation, Enforcement } from './isolation.ts';
import type { Limits, Resources } from './limits.ts';
import type { SessionEnd } from './session.ts';

/** Which of a command's two outputs. */
export type Stream = 'stdout' | 'stderr';

/** A byte position in a job's output log: how many bytes of both streams arrived before it. */
export type Cursor = number;

/** Which variables pass although they look like secrets, and which are withheld although they do not. */
export interface EnvironmentRules {
  readonly envPass: readonly string[];
  readonly envWithhold: readonly string[];
}

/** One command to run, as plain data that could cross to another machine. */
export interface JobSpec {
  readonly id: string;
  readonly command: Command;
  /** The canonical directory to run in. */
  readonly cwd: string;
  /** Variables that the caller adds to the worker's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Gives the command a terminal of this size in place of pipes; what it prints is then one stream. */
  readonly terminal?: TerminalSize | undefined;
  /** `empty` is at its end from the start; `open` takes `write` until `eof`. */
  readonly stdin: 'empty' | 'open';
  /** Counted on a clock that stands still while the machine sleeps; null means no limit. */
  readonly timeoutMs: number | null;
  /** The persistent shell to run in, by its key; without one the command gets a shell of its own. */
  readonly session?: string | undefined;
  /** The persistent shell whose state it begins with, by its key; nothing of it goes back there. */
  readonly beginsAs?: string | undefined;
  /** Patterns of the server's variables that this command gets, or not, beside the worker's own rules. */
  readonly environment?: EnvironmentRules | undefined;
  /** What this command asks for beyond the worker's own isolation. */
  readonly isolation?: AskedIsolation | undefined;
  /** What this command may use; what is more than the worker's own limits is refused. */
  readonly limits?: Limits | undefined;
}

/** How large a terminal is, in characters. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/** The life of a job. The last four are final. */
export type JobStatus = 'pending' | 'running' | 'completed' | 'failed' | 'timeout' | 'killed';

/** Why a job ended: by itself, by whom, or by which limit. */
export type EndCause =
  | 'exit'
  | 'timeout'
  | 'stopped'
  | 'output_limit'
  | 'spool_failed'
  | 'oom'
  | 'cpu'
  | 'processes'
  | 'file_size';

/** A process as people know it. */
export interface ProcessRef {
  readonly pid: number;
  readonly command: string;
}

/** How a job ended. */
export interface JobEnd {
  readonly cause: EndCause;
  /** What the shell would say: 128 + N for death by signal N. */
  readonly exitCode: number;
  readonly signal: string | null;
  /** A sentence on the cause, where there is more to say. */
  readonly detail: string | null;
  /** What was still running when the command itself had ended: ended with it, or left to its persistent shell. */
  readonly leftRunning: readonly ProcessRef[];
  /** Daemons that the settings let stay until the server ends. */
  readonly kept: readonly ProcessRef[];
  /** What could not be ended: processes that the kernel does not let go of. */
  readonly survivors: readonly ProcessRef[];
  /** Hosts, as `host:port`, that it asked for and was refused; its exit code may not tell. */
  readonly deniedHosts: readonly string[];
  /** How it left its persistent shell; absent where it had a shell of its own. */
  readonly session?: SessionEnd | undefined;
}

/** A job as it is now. */
export interface JobState {
  readonly id: string;
  readonly status: JobStatus;
  readonly pid: number | null;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** Names of the server's variables that the command did not get. */
  readonly withheldEnv: readonly string[];
  /** SHA-256 of each output, in hexadecimal digits; only once it has ended. */
  readonly digests?: Readonly<Record<Stream, string>> | undefined;
  /** What is enforced on it; null for what never ran. */
  readonly enforcement: Enforcement | null;
  /** What its whole tree has used so far; null for what never ran. */
  readonly resources: Resources | null;
  readonly end: JobEnd | null;
}

/** What the kernel shows of a job's processes now. */
export interface JobLook {
  /** True while one of them sleeps until there is input from us; false also where the kernel does not tell. */
  readonly awaitingInput: boolean;
  /** TCP ports on which they listen. */
  readonly listening: readonly number[];
}

/** A run of bytes of one stream. */
export interface OutputChunk {
  readonly stream: Stream;
  readonly data: Uint8Array;
}

/** What a read found: bytes in arrival order, and where to go on. */
export interface ReadResult {
  readonly chunks: readonly OutputChunk[];
  readonly next: Cursor;
  /** Where the log ends now; equal to `next` when all was read. */
  readonly end: Cursor;
  /** True when the command has ended; only what it left running in its session can follow `end`. */
  readonly final: boolean;
}
