import { closeSync, readSync } from 'node:fs';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { ReadStream } from 'node:tty';
import { createDeferred } from '../../support/timing.ts';

/**
 * The kind of descriptor that is read: `pipe` is polled immediately, `output` (a command's stdout or stderr) only after
 * `soonMs`, and `terminal` is the master side of a pty.
 */
export type CaptureKind = 'pipe' | 'output' | 'terminal';

/** Receives captured bytes; the buffer is only valid during the call. Returns false to pause reading. */
export type OnBytes = (bytes: Uint8Array) => boolean;

/** Callbacks for FIFOs that a persistent shell reuses from one command to the next. */
export interface OutputHooks {
  /** Called before a descriptor is polled; from then on "no writers" means EOF. */
  beforePolling(end: number): void;
  /** Receives a descriptor at EOF that was never polled, to reuse it; without this hook it is closed. */
  reclaim(end: number): void;
  /** Called when all output of a command has been read; `atEnd` says that no process has its outputs open. */
  onDrained(atEnd: boolean): void;
}

// All captures share one buffer: each read is synchronous, and `onBytes` copies the bytes that it keeps.
const scratch = Buffer.allocUnsafeSlow(65_536);
// A background process may write faster than `drain` reads; the command's own output is in the first pipe buffer.
const drainBytes = 1_048_576;
// Most commands end within this time. Their output is read by `drain`, and no `Socket` is ever created for them.
const soonMs = 8;

/** Reads a FIFO, or the master side of a terminal, until EOF. */
export class Capture {
  readonly #fd: number;
  readonly #onBytes: OnBytes;
  readonly #kind: CaptureKind;
  readonly #hooks: OutputHooks | undefined;
  readonly #ended = createDeferred<void>();
  readonly #polling: NodeJS.Timeout | undefined;
  #socket: Socket | null = null;
  #atEnd = false;

  constructor(fd: number, onBytes: OnBytes, kind: CaptureKind = 'pipe', hooks?: OutputHooks | undefined) {
    this.#fd = fd;
    this.#onBytes = onBytes;
    this.#kind = kind;
    this.#hooks = hooks;
    if (kind === 'output') this.#polling = setTimeout(() => this.#poll(), soonMs);
    else this.#poll();
  }

  /** Resolves at EOF, when no process has the other end open any more, or after `close`. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  isOpen(): boolean {
    return !this.#atEnd && !this.#socket?.destroyed;
  }

  /** Continues reading after `onBytes` has returned false. */
  resume(): void {
    this.#socket?.resume();
  }

  /** Reads what is in the pipe now, without waiting; returns true at EOF. */
  drain(): boolean {
    const atEnd = !this.isOpen() || drainNow(this.#fd, this.#onBytes);
    if (atEnd) this.close();
    return atEnd;
  }

  close(): void {
    clearTimeout(this.#polling);
    if (this.#socket) {
      this.#socket.destroy();
      return;
    }
    if (!this.#atEnd) this.#reclaimOrClose();
    this.#finish();
  }

  #poll(): void {
    this.#hooks?.beforePolling(this.#fd);
    try {
      this.#socket = openSocket(this.#fd, this.#onBytes, this.#kind);
    } catch {
      // A command of a persistent shell can replace its FIFO with a file, which `Socket` does not accept. `drain` reads it.
      return;
    }
    for (const event of ['end', 'error', 'close']) this.#socket.on(event, () => this.#finish());
    this.#socket.resume();
  }

  #reclaimOrClose(): void {
    if (this.#hooks) this.#hooks.reclaim(this.#fd);
    else closeSync(this.#fd);
  }

  #finish(): void {
    this.#atEnd = true;
    this.#ended.resolve();
  }
}

function openSocket(fd: number, onBytes: OnBytes, kind: CaptureKind): Socket {
  const onread: ConnectOpts['onread'] = {
    buffer: scratch,
    callback: (count, buffer) => onBytes(count === buffer.length ? buffer : buffer.subarray(0, count)),
  };
  const options: SocketConstructorOpts & ConnectOpts = { fd, readable: true, writable: false, onread };
  return kind === 'terminal' ? new ReadStream(fd, { ...options, fd: undefined }) : new Socket(options);
}

function drainNow(fd: number, onBytes: OnBytes): boolean {
  for (let total = 0; total < drainBytes; ) {
    let count = 0;
    try {
      count = readSync(fd, scratch, 0, scratch.length, null);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code !== 'EAGAIN';
    }
    if (count === 0) return true;
    onBytes(scratch.subarray(0, count));
    total += count;
  }
  return false;
}
