import { closeSync, readSync } from 'node:fs';
import { type ConnectOpts, Socket, type SocketConstructorOpts } from 'node:net';
import { ReadStream } from 'node:tty';
import { createDeferred } from '../../support/deferred.ts';

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
// Most commands say little and end soon: what they wrote is then drained, and the machinery of waiting is never set up.
const soonMs = 8;

/** What is read: a pipe from which somebody waits for every byte, a command's own output, or our side of a terminal. */
export type CaptureKind = 'pipe' | 'output' | 'terminal';

/** What else is done for outputs that serve one command after the other. */
export interface OutputCare {
  /** Called before one is waited for: from then on nobody at its other end means that it is at its end. */
  beforeListening(end: number): void;
  /** Takes back one that is at its end and was never waited for; it would be closed otherwise. */
  leave(end: number): void;
  /** Called once all that a command wrote has been read; `atEnd` says that nobody holds its outputs any more. */
  onRead(atEnd: boolean): void;
}

/** Reads a FIFO, or our side of a terminal, into `onBytes`, whose buffer is only valid during the call; it returns false to pause. */
export function captureStream(
  fd: number,
  onBytes: (bytes: Uint8Array) => boolean,
  kind: CaptureKind = 'pipe',
  care: OutputCare | undefined = undefined,
): Capture {
  const ended = createDeferred<void>();
  const leave = care?.leave ?? closeSync;
  let socket: Socket | null = null;
  let atEnd = false;
  const finish = () => {
    atEnd = true;
    ended.resolve();
  };
  const listen = () => {
    care?.beforeListening(fd);
    socket = openSocket(fd, onBytes, kind);
    for (const event of ['end', 'error', 'close']) socket.on(event, finish);
    socket.resume();
  };
  const listening = kind === 'output' ? setTimeout(listen, soonMs) : undefined;
  if (!listening) listen();
  const close = () => {
    clearTimeout(listening);
    if (socket) socket.destroy();
    else if (!atEnd) leave(fd);
    if (!socket) finish();
  };
  const isOpen = () => !atEnd && !socket?.destroyed;

  return {
    ended: ended.promise,
    isOpen,
    resume: () => socket?.resume(),
    drain() {
      const reached = !isOpen() || drainNow(fd, onBytes);
      if (reached) close();
      return reached;
    },
    close,
  };
}

function openSocket(fd: number, onBytes: (bytes: Uint8Array) => boolean, kind: CaptureKind): Socket {
  const onread: ConnectOpts['onread'] = {
    buffer: scratch,
    callback: (count, buffer) => onBytes(count === buffer.length ? buffer : buffer.subarray(0, count)),
  };
  const options: SocketConstructorOpts & ConnectOpts = { fd, readable: true, writable: false, onread };
  return kind === 'terminal' ? new ReadStream(fd, { ...options, fd: undefined }) : new Socket(options);
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
