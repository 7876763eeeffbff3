import { closeSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { createDeferred, type Deferred } from '../../support/timing.ts';

/** Our end of a command's `stdin`. */
export interface CommandInput {
  /** Resolves when the data has been written, or when the command has closed its `stdin` (EPIPE). */
  write(data: Uint8Array): Promise<void>;
  /** Ends the input: closes a pipe, types Ctrl-D at a terminal. */
  end(): void;
  /** True while written data waits because the pipe or terminal is full (EAGAIN). */
  isFull(): boolean;
  destroy(): void;
}

/** Writes to a pipe. EPIPE is ignored: a command may close its stdin or never read it. */
export class PipeInput implements CommandInput {
  readonly #socket: Socket;

  constructor(fd: number) {
    this.#socket = new Socket({ fd, readable: false, writable: true });
    this.#socket.on('error', () => {});
  }

  write(data: Uint8Array): Promise<void> {
    return new Promise((resolve) => this.#socket.write(data, () => resolve()));
  }

  end(): void {
    this.#socket.end();
  }

  isFull(): boolean {
    return this.#socket.writableLength > 0;
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

/** Writes a text to a pipe and closes it; a text that fits into the pipe is written with one `writeSync`. */
export function writeAndClose(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  const written = tryToWrite(fd, bytes);
  if (written === bytes.length) {
    closeSync(fd);
    return;
  }
  const rest = new PipeInput(fd);
  void rest.write(bytes.subarray(written));
  rest.end();
}

const ctrlD = Buffer.from([0x04]);
const retryMs = 5;

/**
 * Writes to a terminal through the descriptor that its `Capture` reads from; `isOpen` says whether the capture still has
 * it. Only synchronous writes are made, because a closed descriptor's number may be reused for another file.
 */
export class TerminalInput implements CommandInput {
  readonly #fd: number;
  readonly #isOpen: () => boolean;
  #queue: { data: Uint8Array; readonly written: Deferred<void> }[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(fd: number, isOpen: () => boolean) {
    this.#fd = fd;
    this.#isOpen = isOpen;
  }

  write(data: Uint8Array): Promise<void> {
    const written = createDeferred<void>();
    this.#queue.push({ data, written });
    if (this.#timer === undefined) this.#flush();
    return written.promise;
  }

  end(): void {
    void this.write(ctrlD);
  }

  isFull(): boolean {
    return this.#queue.length > 0;
  }

  destroy(): void {
    clearTimeout(this.#timer);
    for (const { written } of this.#queue) written.resolve();
    this.#queue = [];
  }

  #flush(): void {
    this.#timer = undefined;
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      const count = this.#isOpen() ? tryToWrite(this.#fd, first.data) : first.data.length;
      first.data = first.data.subarray(count);
      if (first.data.length > 0) {
        this.#timer = setTimeout(() => this.#flush(), retryMs);
        return;
      }
      this.#queue.shift();
      first.written.resolve();
    }
  }
}

// PIPE_BUF: the kernel writes this much to a pipe completely or not at all.
const atomicBytes = 4_096;

/** Writes a text of at most PIPE_BUF bytes to a non-blocking pipe; returns false if nothing was written. */
export function writeAtomically(fd: number, text: string): boolean {
  if (Buffer.byteLength(text) > atomicBytes) return false;
  try {
    return writeSync(fd, text) > 0;
  } catch {
    return false;
  }
}

/** Writes without waiting; returns 0 if the pipe or terminal is full (EAGAIN), and all of `data` if it is closed. */
export function tryToWrite(fd: number, data: Uint8Array): number {
  try {
    return writeSync(fd, data);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : data.length;
  }
}
