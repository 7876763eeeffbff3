import { readSync } from 'node:fs';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { ReadStream } from 'node:tty';
import { createDeferred } from '../support/deferred.ts';

/** The reading of one of a command's outputs. */
export interface Capture {
  /** Resolves when nobody holds the other end any more. */
  readonly ended: Promise<void>;
  isOpen(): boolean;
  resume(): void;
  /** Takes what is in the pipe now, without waiting; true when nobody holds the other end any more. */
  drain(): boolean;
  close(): void;
}

// Reading is synchronous within the event loop and bytes are copied at once, so all captures share one buffer.
const scratch = Buffer.allocUnsafeSlow(65_536);
// A survivor may write faster than we drain; what the command itself wrote is in the first pipeful.
const drainBytes = 1_048_576;

/** Reads a FIFO, or our side of a terminal, into `onBytes`, whose buffer is only valid during the call; it returns false to pause. */
export function captureStream(
  fd: number,
  onBytes: (bytes: Uint8Array) => boolean,
  kind: 'pipe' | 'terminal' = 'pipe',
): Capture {
  const ended = createDeferred<void>();
  let atEnd = false;
  const onread: ConnectOpts['onread'] = {
    buffer: scratch,
    callback: (count, buffer) => onBytes(count === buffer.length ? buffer : buffer.subarray(0, count)),
  };
  const options: SocketConstructorOpts & ConnectOpts = { fd, readable: true, writable: false, onread };
  const socket = kind === 'pipe' ? new Socket(options) : new ReadStream(fd, { ...options, fd: undefined });
  const finish = () => {
    atEnd = true;
    ended.resolve();
  };
  socket.on('end', finish);
  socket.on('error', finish);
  socket.on('close', finish);
  socket.resume();

  return {
    ended: ended.promise,
    isOpen: () => !atEnd && !socket.destroyed,
    resume: () => socket.resume(),
    drain() {
      if (atEnd || socket.destroyed) return true;
      const reached = drainNow(fd, onBytes);
      if (reached) socket.destroy();
      return reached;
    },
    close: () => socket.destroy(),
  };
}

function drainNow(fd: number, onBytes: (bytes: Uint8Array) => boolean): boolean {
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
