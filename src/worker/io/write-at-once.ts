import { writeSync } from 'node:fs';

// So much the kernel takes as one.
const atomicBytes = 4_096;

/** Writes a short text to a pipe, whole or not at all, without waiting; false when nothing of it was written. */
export function writeAtOnce(fd: number, text: string): boolean {
  if (Buffer.byteLength(text) > atomicBytes) return false;
  try {
    return writeSync(fd, text) > 0;
  } catch {
    return false;
  }
}
