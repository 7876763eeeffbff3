import type { Caller } from './caller.ts';
import type { ChangesMode, CommandChanges } from './changes.ts';
import type { Command } from './command.ts';
import type { Rules } from './decision.ts';
import type { Facts } from './facts.ts';
import type { Enforcement, ExecList, RequestedIsolation } from './isolation.ts';
import type { Limits, Resources } from './limits.ts';
import type { SessionEnd } from './session.ts';

/** One of a command's two output streams; a command on a terminal has only `stdout`. */
export type Stream = 'stdout' | 'stderr';

/** A byte position in a job's output log: the number of bytes of both streams that arrived before it. */
export type Cursor = number;

/** Exceptions to `looksSecret`: name patterns of variables to pass, and of variables to withhold. */
export interface EnvironmentRules {
  readonly envPass: readonly string[];
  readonly envWithhold: readonly string[];
}

/** Argument of `Backend.start`: a command as plain data that can be sent to a worker on another machine. */
export interface JobSpec {
  readonly id: string;
  /** The name of the machine that it runs on; this one if absent. */
  readonly machine?: string | undefined;
  readonly command: Command;
  /** The canonical path of the working directory. */
  readonly cwd: string;
  /** Variables that the caller adds to the worker's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs the command on a terminal of this size instead of pipes; all its output is then `stdout`. */
  readonly terminal?: TerminalSize | undefined;
  /** `empty` is at EOF from the start; `open` accepts `write` until `eof`. */
  readonly stdin: 'empty' | 'open';
  /** Measured on CLOCK_MONOTONIC, which stops while the machine is suspended; null means no limit. */
  readonly timeoutMs: number | null;
  /** The key of the persistent shell to run in; without one the command gets a new shell. */
  readonly session?: string | undefined;
  /** The key of the persistent shell whose state is copied into the new shell; changes are not copied back. */
  readonly beginsAs?: string | undefined;
  /** The key of the room whose loopback and /tmp it shares with other commands while it is in a sandbox. */
  readonly room?: string | undefined;
  /** Rules for the server's variables that apply to this command in addition to the worker's. */
  readonly environment?: EnvironmentRules | undefined;
  /** Isolation that this command asks for in addition to the worker's. */
  readonly isolation?: RequestedIsolation | undefined;
  /** The programs that its caller may run; `any` if that is every one, absent for the worker's usual list. */
  readonly exec?: ExecList | 'any' | undefined;
  /** Resource limits of this command; refused if higher than the worker's. */
  readonly limits?: Limits | undefined;
  /** Present if its persistent shell, or the command itself, outlives the connection to the worker. */
  readonly keeping?: Keeping | undefined;
  /** How it changes files; the stricter of this and the worker's setting applies. */
  readonly changes?: RequestedChanges | undefined;
}

/**
 * The client that a command or persistent shell belongs to, so that only a later connection of the same client
 * reattaches to it.
 */
export interface Keeping {
  /** Identifies the user or token, the project folder and the client (`toIdentity`). */
  readonly identity: string;
  /** The key of the caller's room, which also begins the keys of its persistent shells. */
  readonly room: string;
  readonly caller: Caller;
  /** An alias of the id, for its owner. */
  readonly name?: string | undefined;
  /** False for a command that ends with the connection; only its persistent shell is kept. */
  readonly outlives: boolean;
  /** How its later input is judged; absent if that is not code. */
  readonly judgedBy?: InputRules | undefined;
}

/** The facts and rules by which the policy judges text that is typed into a shell. */
export interface InputRules {
  readonly env: Readonly<Record<string, string>>;
  readonly facts: Facts;
  readonly rules: Rules;
}

/** How a command asks to change files. */
export interface RequestedChanges {
  readonly mode?: ChangesMode | undefined;
  /** The owner of its changes; a held command runs on top of held changes of the same owner. */
  readonly owner?: string | undefined;
  /** True for a command that outlives its call or has a terminal: `track` applies its changes at once, as `direct` does. */
  readonly isLasting?: boolean | undefined;
  /** True if the user is asked about the changes: the owner cannot apply them. */
  readonly asksUser?: boolean | undefined;
}

/** The size of a terminal in characters. */
export interface TerminalSize {
  readonly cols: number;
  readonly rows: number;
}

/**
 * The states of a job. `unreachable`: its worker does not answer, so that it may still run. The last five are final;
 * `lost`: its worker is gone without having recorded an end.
 */
export type JobStatus =
  | 'pending'
  | 'running'
  | 'unreachable'
  | 'completed'
  | 'failed'
  | 'timeout'
  | 'killed'
  | 'lost';

/** Why a job ended: `exit` for its own exit or a foreign signal, otherwise the stop, limit or fault that ended it. */
export type EndCause =
  | 'exit'
  | 'timeout'
  | 'stopped'
  | 'output_limit'
  | 'spool_failed'
  | 'supervision_lost'
  | 'worker_lost'
  | 'oom'
  | 'cpu'
  | 'processes'
  | 'file_size';

/** A process by pid and command line. */
export interface ProcessRef {
  readonly pid: number;
  readonly command: string;
}

/** How a job ended. */
export interface JobEnd {
  readonly cause: EndCause;
  /** The exit code as in bash: 128 + N after signal N; null if it is not known (`supervision_lost`, `worker_lost`). */
  readonly exitCode: number | null;
  readonly signal: string | null;
  /** A sentence that explains `cause` in more detail. */
  readonly detail: string | null;
  /** Processes that still ran when the command exited: killed then, or left running in its persistent shell. */
  readonly leftRunning: readonly ProcessRef[];
  /** Daemons that keep running until the server ends, as the settings allow. */
  readonly kept: readonly ProcessRef[];
  /** Processes that survived SIGKILL, such as one blocked in the kernel. */
  readonly survivors: readonly ProcessRef[];
  /** Hosts, as `host:port`, that the network proxy refused; the command may nevertheless exit with 0. */
  readonly deniedHosts: readonly string[];
  /** Programs that the kernel refused to execute, because they are not listed (`exec`); absent if there were none. */
  readonly deniedPrograms?: readonly string[] | undefined;
  /** Protected paths that the command could not write, or that are new; absent if there are none. */
  readonly protectedUse?: ProtectedUse | undefined;
  /** The state of its persistent shell afterwards; absent if it ran in a new shell. */
  readonly session?: SessionEnd | undefined;
  /** The files that it has changed, if they are tracked or held; absent if it has changed none. */
  readonly changes?: CommandChanges | undefined;
  /** A sentence about changes that could not be tracked, held or applied. */
  readonly changesNote?: string | undefined;
}

/** Paths in a workspace that programs outside of the sandbox run, such as .git/hooks or .vscode. */
export interface ProtectedUse {
  /** Those that a command could not write, because they are read-only in the sandbox. */
  readonly refused: readonly string[];
  /** Those that were created, or changed where they cannot be made read-only, while it ran. */
  readonly changed: readonly string[];
}

/** The current state of a job. */
export interface JobState {
  readonly id: string;
  readonly status: JobStatus;
  readonly pid: number | null;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** Names of the server's variables that were withheld from the command. */
  readonly withheldEnv: readonly string[];
  /** SHA-256 of each stream in hex; present once the job has ended. */
  readonly digests?: Readonly<Record<Stream, string>> | undefined;
  /** The isolation enforced on it; null for a job that never ran. */
  readonly enforcement: Enforcement | null;
  /** The resources that its process tree has used so far; null for a job that never ran. */
  readonly resources: Resources | null;
  readonly end: JobEnd | null;
  /** Why its changes are made directly although tracking was requested; absent otherwise. */
  readonly changesNote?: string | undefined;
  /** True if it keeps running when the connection to its worker is closed; absent otherwise. */
  readonly outlives?: boolean | undefined;
  /** When its worker stopped answering; present while `status` is `unreachable`. */
  readonly unreachableSince?: string | undefined;
  /** The worker's signature of the end; present if the command ran in a detached worker and has ended. */
  readonly endRecord?: EndRecord | undefined;
}

/** The end of a command as its worker signed it; `signedEnd` in wire.ts is the signed text. */
export interface EndRecord {
  /** The name of the worker. */
  readonly worker: string;
  /** The worker's Ed25519 key, as DER in base64. */
  readonly key: string;
  readonly startedAt: string;
  readonly endedAt: string;
  readonly signature: string;
}

/** The state of a job's processes as found in `/proc`. */
export interface JobObservation {
  /** True while one of them is blocked reading the input that we write; false if `/proc` does not show it. */
  readonly awaitingInput: boolean;
  /** The name of the process that is blocked; absent while none is, or from an earlier version. */
  readonly reader?: string | undefined;
  /** TCP ports that they listen on. */
  readonly listening: readonly number[];
}

/** Consecutive bytes of one stream. */
export interface OutputChunk {
  readonly stream: Stream;
  readonly data: Uint8Array;
}

/** A cursor of an output log, and when the bytes after it arrived, in milliseconds since the log was opened. */
export interface OutputMark {
  readonly cursor: Cursor;
  readonly ms: number;
}

/** Result of `Backend.read`: bytes in arrival order, and the cursor to continue from. */
export interface ReadResult {
  readonly chunks: readonly OutputChunk[];
  readonly next: Cursor;
  /** The current end of the log; equal to `next` if everything was read. */
  readonly end: Cursor;
  /** The cursor before which all output was removed, because running commands needed its space; a read before it skips to it. */
  readonly goneBefore?: Cursor | undefined;
  /** When output arrived: each mark is for the bytes from its cursor on; the first one may be before `from`. */
  readonly marks?: readonly OutputMark[] | undefined;
  /** Secrets that were typed into the command before this process called `takeUp`; absent if there are none. */
  readonly hide?: readonly string[] | undefined;
  /** True once the command has ended; only processes left running in its session can still write after `end`. */
  readonly final: boolean;
}
