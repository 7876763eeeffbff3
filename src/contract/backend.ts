import type { Facts, InspectQuery } from './facts.ts';
import type { Cursor, JobLook, JobSpec, JobState, ReadResult, TerminalSize } from './job.ts';
import type { MachineReport } from './report.ts';
import type { SessionState } from './session.ts';

/** How to end a job: politely first (SIGTERM follows SIGINT), by force when the grace of each has passed. */
export interface StopOptions {
  readonly signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL';
  readonly graceMs: number;
}

/** How something is written. */
export interface WriteOptions {
  /** Nothing follows. */
  readonly eof?: boolean;
  /** Words that were typed as secrets: nobody is to see them in what the command prints. */
  readonly hide?: readonly string[];
}

/**
 * The road to a worker. Everything that crosses it is plain data, asked by id and cursor, so that a worker on
 * another machine can stand behind the same calls.
 */
export interface Backend {
  readonly abilities: {
    /** Whether death is certain for all descendants or only for those that can still be found. */
    readonly killTree: 'all' | 'group';
  };
  report(): Promise<MachineReport>;
  /** What all commands together take up now. */
  usage(): Promise<{ readonly spoolBytes: number }>;
  inspect(query: InspectQuery): Promise<Facts>;
  /**
   * Makes ready what a command needs, as far as that can be done before anything of it runs. `start` then has it run;
   * one that is not to run any more is stopped and disposed of.
   */
  prepare(job: JobSpec): Promise<void>;
  /** Resolves when the process runs. Starting the same id twice starts it once. */
  start(job: JobSpec): Promise<void>;
  /** Never drains: the same cursor gives the same bytes. Waits up to `waitMs` for something to read. */
  read(id: string, from: Cursor, options: { waitMs: number; maxBytes: number }): Promise<ReadResult>;
  /** Waits up to `waitMs` for the end and tells the state then. */
  wait(id: string, waitMs: number): Promise<JobState>;
  write(id: string, data: Uint8Array, options?: WriteOptions): Promise<void>;
  /** Changes the size of a job's terminal; rejects for a job without one. */
  resize(id: string, size: TerminalSize): Promise<void>;
  /** Does what Ctrl-C does at a terminal. */
  interrupt(id: string): Promise<void>;
  /** Ends the whole tree and confirms its death before it resolves; a job that has ended stays as it is. */
  stop(id: string, options: StopOptions): Promise<JobState>;
  /** What only a look at the processes of a job tells; nothing for one that has ended. */
  look(id: string): Promise<JobLook>;
  /** The cheaper half of a look: whether one of them sleeps until there is input from us. */
  awaitsInput(id: string): Promise<boolean>;
  list(): Promise<readonly JobState[]>;
  /** Forgets an ended job and its output. */
  dispose(id: string): Promise<void>;
  /** Leaves a persistent shell's command to itself: it goes on by its id, and the session gets a new shell. */
  letGo(session: string): Promise<void>;
  listSessions(): Promise<readonly SessionState[]>;
  /** Ends a persistent shell with all it has in the background; false when there is none of that key. */
  closeSession(key: string): Promise<boolean>;
  /** Ends every job and cleans up after them. */
  close(): Promise<void>;
}
