import { closeSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { createDeferred } from '../../support/deferred.ts';

/** The way into a command. */
export interface CommandInput {
  /** Resolves when the command has taken it, or does not want it any more. */
  write(data: Uint8Array): Promise<void>;
  /** Tells that nothing follows. */
  end(): void;
  /** True while something that was written waits outside. */
  isFull(): boolean;
  destroy(): void;
}

/** Writes to a pipe. A command may close its stdin, or never read it: neither is our error. */
export function createPipeInput(fd: number): CommandInput {
  const socket = new Socket({ fd, readable: false, writable: true });
  socket.on('error', () => {});
  return {
    write: (data) => new Promise((resolve) => socket.write(data, () => resolve())),
    end: () => void socket.end(),
    isFull: () => socket.writableLength > 0,
    destroy: () => void socket.destroy(),
  };
}

/** Writes to a pipe what nothing follows. It fits into most pipes, and then nobody has to wait for it. */
export function writeWhole(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  const taken = tryToWrite(fd, bytes);
  if (taken === bytes.length) {
    closeSync(fd);
    return;
  }
  const rest = createPipeInput(fd);
  void rest.write(bytes.subarray(taken));
  rest.end();
}

const endOfFile = Buffer.from([0x04]);
const retryMs = 5;

/**
 * Writes to a terminal, whose descriptor belongs to whoever reads from it: `isOpen` tells whether it still does. Nothing
 * is ever on its way, since another file may get the number of one that was closed.
 */
export function createTerminalInput(fd: number, isOpen: () => boolean): CommandInput {
  let queue: { data: Uint8Array; readonly taken: ReturnType<typeof createDeferred<void>> }[] = [];
  let timer: NodeJS.Timeout | undefined;

  const flush = () => {
    timer = undefined;
    for (let first = queue[0]; first; first = queue[0]) {
      const count = isOpen() ? tryToWrite(fd, first.data) : first.data.length;
      first.data = first.data.subarray(count);
      if (first.data.length > 0) {
        timer = setTimeout(flush, retryMs);
        return;
      }
      queue.shift();
      first.taken.resolve();
    }
  };
  const write = (data: Uint8Array) => {
    const taken = createDeferred<void>();
    queue.push({ data, taken });
    if (timer === undefined) flush();
    return taken.promise;
  };
  return {
    write,
    end: () => void write(endOfFile),
    isFull: () => queue.length > 0,
    destroy() {
      clearTimeout(timer);
      for (const { taken } of queue) taken.resolve();
      queue = [];
    },
  };
}

/** How much was taken: nothing where there is no room, everything when nobody is there any more. */
function tryToWrite(fd: number, data: Uint8Array): number {
  try {
    return writeSync(fd, data);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 0 : data.length;
  }
}
