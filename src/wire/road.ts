import type { Duplex } from 'node:stream';

/** Opens byte streams to a worker. */
export interface Road {
  /** Connects to the worker, which is started if there is none. */
  open(): Promise<Duplex>;
  /** How long a call waits while the stream cannot be opened; 15 seconds by default. */
  readonly patienceMs?: number | undefined;
  /**
   * Like `patienceMs`, until a worker was reached for the first time, for a road whose `open` has its own time limit;
   * `patienceMs` by default.
   */
  readonly firstPatienceMs?: number | undefined;
  /** How long the worker may take to answer a call; without a limit by default. */
  readonly answerMs?: number | undefined;
  /** The longest pause between two attempts to open it again; 2 seconds by default. A call ends the pause. */
  readonly retryMs?: number | undefined;
  /** Resolves when the worker that this road has started has exited; absent if it is not a child of this process. */
  ended?(): Promise<void>;
  /** Closes the streams, and removes what was created for this connection, such as a container. */
  remove?(): Promise<void>;
}

/** A program on another machine. */
export interface FarProgram {
  /** Its stdin and stdout; destroying it ends the program as far as the road can do that. */
  readonly stream: Duplex;
  /** Resolves when it has ended, or when the road to it is lost. */
  readonly ended: Promise<FarEnd>;
}

/** How a program on another machine ended. */
export interface FarEnd {
  /** Its exit code; null if it is not known. */
  readonly code: number | null;
  /** The end of its stderr and of that of the road's own program. */
  readonly stderr: string;
}
