import { NacreError } from '../contract/failure.ts';
import type { Cursor, OutputChunk, ReadResult, Stream } from '../contract/job.ts';
import { createNotifier } from '../support/timing.ts';
import type { Digests } from './io/digest-thread.ts';
import { OutputLog } from './io/output-log.ts';
import { type Allocate, type Spool, SpoolFullError } from './io/spool.ts';
import type { LimitReached } from './limits/explain-exit.ts';

/** Options of `JobOutput`. */
export interface JobOutputOptions {
  readonly spool: Spool;
  readonly writesThrough?: boolean | undefined;
  readonly ringBytes: number;
  /** Bytes of output after which `onLimit` is called. */
  readonly spoolBytes: number;
  /** Called when reading may continue after `append` has returned false. */
  onRelief(): void;
  /** Called when the output exceeds a limit or cannot be kept. */
  onLimit(limit: LimitReached): void;
}

/** Options of a read. */
export interface ReadOptions {
  readonly waitMs: number;
  readonly maxBytes: number;
  /** Returns the memory into which output is copied; new memory by default. */
  readonly allocate?: Allocate | undefined;
}

/** The output of one `Job`: the `OutputLog`, its size limit, and readers that wait for more. */
export class JobOutput {
  readonly #options: JobOutputOptions;
  readonly #log: OutputLog;
  readonly #changed = createNotifier();
  #isSealed = false;
  #isDisposed = false;

  constructor(options: JobOutputOptions) {
    this.#options = options;
    const { ringBytes, spool, writesThrough } = options;
    this.#log = new OutputLog({
      ringBytes,
      spool,
      writesThrough,
      onRelief: () => options.onRelief(),
      onSpoolFailure: (error) => options.onLimit(toLimit(error)),
    });
  }

  get stdoutBytes(): number {
    return this.#log.stdoutBytes;
  }

  get stderrBytes(): number {
    return this.#log.stderrBytes;
  }

  /** The SHA-256 of each stream so far, in hexadecimal; undefined if its output cannot be read any more. */
  digests(): Promise<Digests | undefined> {
    return this.#log.digests();
  }

  /** Appends bytes; returns false if reading should pause until `onRelief`. */
  append(stream: Stream, bytes: Uint8Array): boolean {
    // A background process in a session may write after its job is disposed of; it must be neither blocked nor killed.
    if (this.#isDisposed) return true;
    const { spoolBytes, onLimit } = this.#options;
    const room = spoolBytes - this.#log.end;
    this.#log.append(stream, bytes.length > room ? bytes.subarray(0, room) : bytes);
    this.#changed.notifyAll();
    if (bytes.length <= room || this.#isSealed) return !this.#log.isFull;
    onLimit({ cause: 'output_limit', detail: `It wrote more than ${spoolBytes} bytes of output.` });
    return false;
  }

  /** Reads starting at a byte position; waits up to `waitMs` if there is nothing yet. */
  async read(from: Cursor, options: ReadOptions): Promise<ReadResult> {
    if (!Number.isInteger(from) || from < 0 || from > this.#log.end) throw outsideLog(from, this.#log.end);
    if (from === this.#log.end && !this.#isSealed && options.waitMs > 0)
      await this.#changed.wait(options.waitMs);
    const final = this.#isSealed;
    const chunks = await this.#log.read(from, options.maxBytes, options.allocate).catch((error: unknown) => {
      // The spool may have been evicted while it was read.
      if (from >= this.#log.goneBefore) throw error;
      return [];
    });
    const { end, goneBefore } = this.#log;
    const next = toNext(from, chunks);
    const marks = chunks.length > 0 ? this.#log.marks(from, next) : undefined;
    if (goneBefore === 0) return { chunks, next, end, final, marks };
    if (from >= goneBefore) return { chunks, next, end, final, goneBefore, marks };
    return { chunks: [], next: options.maxBytes > 0 ? goneBefore : from, end, final, goneBefore };
  }

  /** The text of a stream in the last `maxBytes` of output. */
  async tailOf(wanted: Stream, maxBytes: number): Promise<string> {
    const from = Math.max(0, this.#log.end - maxBytes);
    const chunks = await this.#log.read(from, maxBytes).catch(() => []);
    const found = chunks.filter(({ stream }) => stream === wanted).map(({ data }) => data);
    return Buffer.concat(found).toString('latin1');
  }

  /** Marks the end of the job, so that `read` returns `final`, and wakes waiting readers. */
  seal(): void {
    this.#isSealed = true;
    this.#changed.notifyAll();
  }

  /** Resolves when all output so far is on disk, if it is written through. */
  written(): Promise<void> {
    return this.#log.written();
  }

  /** Ends the log once nothing can be written any more. */
  finish(): Promise<void> {
    return this.#log.finish();
  }

  dispose(): Promise<void> {
    this.#isDisposed = true;
    return this.#log.dispose();
  }
}

function toNext(from: Cursor, chunks: readonly OutputChunk[]): Cursor {
  return chunks.reduce((at, { data }) => at + data.length, from);
}

function toLimit(error: Error): LimitReached {
  const cause = error instanceof SpoolFullError ? 'output_limit' : 'spool_failed';
  return { cause, detail: `Its output could not be stored: ${error.message}.` };
}

/** Error for a cursor beyond the output. */
export function outsideLog(from: Cursor, end: Cursor): NacreError {
  return new NacreError('invalid_request', `cursor ${from} is not in the output, which ends at ${end}.`, {
    hint: 'Use the cursor of an earlier reply, or 0 to start over.',
  });
}
