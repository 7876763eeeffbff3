import type { ChangesAction, ChangesEntry, ChangesResult, ShownChange } from './changes.ts';
import type { Command } from './command.ts';
import type { Facts, InspectQuery } from './facts.ts';
import type {
  Cursor,
  EnvironmentRules,
  JobObservation,
  JobSpec,
  JobState,
  Keeping,
  ProcessRef,
  ReadResult,
  TerminalSize,
} from './job.ts';
import type { ForwardedPort, RoomState } from './port.ts';
import type { MachineReport } from './report.ts';
import type { SessionState } from './session.ts';

/** How to stop a job: `signal` first (SIGTERM follows SIGINT), SIGKILL when `graceMs` has passed after each. */
export interface StopOptions {
  readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL';
  readonly graceMs: number;
  /** Why, as `JobEnd.cause`; `stopped` by default. */
  readonly cause?: 'stopped' | 'timeout' | undefined;
}

/** How jobs are stopped when the server or their persistent shell closes: short, because a caller waits for the exit. */
export const stopOnClose: StopOptions = { signal: 'SIGTERM', graceMs: 500 };

/** Options of `Backend.write`. */
export interface WriteOptions {
  /** Closes stdin after the data. */
  readonly eof?: boolean;
  /** Texts that were typed as secrets; `read` masks them in the job's output. */
  readonly hide?: readonly string[];
}

/** The part of a `Backend` that concerns changes that are kept. */
export interface BackendChanges {
  /** Starts a shell with a layer; returns why changes cannot be tracked or held in the server's directory, or null. */
  changesFault(): Promise<string | null>;
  /** Lists kept changes, the oldest first; those of one owner, if given. */
  listChanges(owner?: string | undefined): Promise<readonly ChangesEntry[]>;
  /** Lists the changed paths of one command; for applied changes, the paths that undoing would change. */
  scanChanges(action: ChangesAction, limit: number): Promise<ChangesResult>;
  /** Like `scanChanges`, with diffs of text files up to the limits. */
  showChanges(action: ChangesAction, limits: ShowLimits): Promise<ShownChanges>;
  applyChanges(action: ChangesAction): Promise<ChangesResult>;
  discardChanges(action: ChangesAction): Promise<ChangesResult>;
  /** Restores the files from before the command; its changes are held afterwards. */
  undoChanges(action: ChangesAction): Promise<ChangesResult>;
}

/** The limits of `Backend.showChanges`. */
export interface ShowLimits {
  readonly maxFiles: number;
  readonly maxChars: number;
}

/** Changed files with their differences. */
export interface ShownChanges extends Omit<ChangesResult, 'changes'> {
  readonly changes: readonly ShownChange[];
}

/**
 * The interface to a worker. Arguments and results are plain data, addressed by id and cursor, so that the worker can
 * run on another machine.
 */
export interface Backend extends BackendChanges {
  readonly abilities: {
    /** `all` if a stop reaches every descendant; `group` if it reaches only those that can still be found. */
    readonly killTree: 'all' | 'group';
  };
  /** Prepares folders, bash and supervision ahead of the first command; every other call does so on demand. */
  warmUp(): Promise<void>;
  /** Values of the worker's environment variables that `rules` withhold from commands, for redaction. */
  environmentSecrets(rules: EnvironmentRules): Promise<readonly string[]>;
  report(): Promise<MachineReport>;
  usage(): Promise<{ readonly spoolBytes: number }>;
  inspect(query: InspectQuery): Promise<Facts>;
  /**
   * Prepares a job as far as possible without running any of its code; `start` then runs it. A prepared job that must
   * not run is released by `stop` and `dispose`. A worker at the far end of a stream reports a failure in `start`.
   */
  prepare(job: JobSpec): Promise<void>;
  /** Runs a prepared job; resolves when its process runs. A second call has no effect. */
  start(id: string): Promise<void>;
  /** Returns output from a cursor, waiting up to `waitMs` for some. Never drains: the same cursor returns the same bytes. */
  read(id: string, from: Cursor, options: { waitMs: number; maxBytes: number }): Promise<ReadResult>;
  /** Returns the state at the job's end, or after `waitMs` if that comes first. */
  wait(id: string, waitMs: number): Promise<JobState>;
  write(id: string, data: Uint8Array, options?: WriteOptions): Promise<void>;
  /** Resizes the job's terminal; rejects for a job without one. */
  resize(id: string, size: TerminalSize): Promise<void>;
  /** Sends SIGINT to the foreground, as Ctrl-C at a terminal does. */
  interrupt(id: string): Promise<void>;
  /** Kills the whole process tree and resolves once it is gone; a job that has ended keeps its state. */
  stop(id: string, options: StopOptions): Promise<JobState>;
  /** Observes the job's processes in /proc; empty for a job that has ended. */
  observe(id: string): Promise<JobObservation>;
  /** The cheaper half of `observe`: true while a process of the job is blocked reading its stdin or terminal. */
  awaitsInput(id: string): Promise<boolean>;
  list(): Promise<readonly JobState[]>;
  /** Forgets an ended job and deletes its output; rejects with `invalid_request` while it runs. */
  dispose(id: string): Promise<void>;
  /** Detaches the running command from a persistent shell: it keeps running under its id; the session gets a new shell. */
  detach(session: string): Promise<void>;
  listSessions(): Promise<readonly SessionState[]>;
  /** Ends a persistent shell and its background jobs; null if no session has that `key`. */
  closeSession(key: string): Promise<ClosedSession | null>;
  /** The rooms that sandboxed commands share, with the ports on which they listen. */
  listRooms(): Promise<readonly RoomState[]>;
  /** Opens a port of a room on 127.0.0.1 of the worker's machine; rejects if the port there is in use. */
  openPort(port: ForwardedPort): Promise<ForwardedPort>;
  /** Closes a port on 127.0.0.1 with its connections; undefined if `openPort` has not opened it. */
  closePort(hostPort: number): Promise<ForwardedPort | undefined>;
  /** Removes a room (`JobSpec.room`) once its last command has ended. */
  closeRoom(room: string): Promise<void>;
  /** Reattaches to the commands and persistent shells of earlier connections of a client, running or ended since. */
  takeUp(request: TakeUpRequest): Promise<readonly KeptCommand[]>;
  /** Notes that the end of a job is in the audit log, so that no later connection records it again. */
  settle(id: string): Promise<void>;
  /** Stops every job with `stopOnClose`, except those that outlive the connection, and removes the worker's files. */
  close(): Promise<void>;
}

/** Argument of `Backend.takeUp`. */
export interface TakeUpRequest {
  /**
   * As in `Keeping.identity`; undefined lists the commands of every client for the local user, without reattaching to
   * them.
   */
  readonly identity: string | undefined;
  /** The key of the caller's room, which replaces `Keeping.room` in the keys of its persistent shells. */
  readonly room: string;
  /**
   * Ids of commands and keys of persistent shells whose server is known to be dead. Their worker on another machine may still
   * consider that server connected, because a broken network does not close connections.
   */
  readonly deserted?: readonly string[] | undefined;
}

/** A command that a worker keeps on disk: it runs, it has ended, or it was lost with its worker. */
export interface KeptState {
  readonly id: string;
  readonly state: 'running' | 'ended' | 'lost';
}

/** A command of an earlier connection. */
export interface KeptCommand {
  readonly id: string;
  /** The name of the machine that it runs on; this one if absent. */
  readonly machine?: string | undefined;
  readonly command: Command;
  readonly cwd: string;
  readonly stdin: JobSpec['stdin'];
  readonly terminal?: TerminalSize | undefined;
  readonly keeping: Keeping;
  readonly state: JobState;
  /** Everything that was typed into it, by which its later input is judged; undefined if that is no longer known. */
  readonly typed?: string | undefined;
  /** Texts that were typed as secrets. */
  readonly hide: readonly string[];
  /** True if a connection has recorded its end. */
  readonly isSettled: boolean;
}

/** The result of closing a persistent shell. */
export interface ClosedSession {
  /** Processes of the session that could not be killed; normally none. */
  readonly survivors: readonly ProcessRef[];
}
