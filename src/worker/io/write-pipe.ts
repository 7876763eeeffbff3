import { writeSync } from 'node:fs';

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
