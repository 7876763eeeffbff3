import { closeSync, readSync } from 'node:fs';
import { openRegularFile } from '../../support/regular-file.ts';

/** The words of a script's `#!` line, or the dynamic loader of an ELF file; empty for any other file. */
export function readInterpreter(file: string): readonly string[] {
  const head = readBytes(file, 0, headBytes);
  if (head.toString('latin1', 0, 2) === '#!') return toWords(head);
  return isElf64(head) ? toLoader(file, head) : [];
}

const headBytes = 4_096;
// PT_INTERP: the program header that names the dynamic loader.
const interpreterSegment = 3;
const maxPathBytes = 4_096;

function toWords(head: Buffer): readonly string[] {
  const [line = ''] = head.toString('utf8', 2).split('\n');
  return line.split(/\s+/).filter((word) => word !== '');
}

function isElf64(head: Buffer): boolean {
  return head.length >= 64 && head.readUInt32BE(0) === 0x7f454c46 && head[4] === 2 && head[5] === 1;
}

// The program header `PT_INTERP` has the offset of the loader's path.
function toLoader(file: string, head: Buffer): readonly string[] {
  const size = head.readUInt16LE(54);
  const count = head.readUInt16LE(56);
  const table = bytesAt(file, head, Number(head.readBigUInt64LE(32)), size * count);
  for (let at = 0; at + 56 <= table.length; at += size) {
    if (table.readUInt32LE(at) !== interpreterSegment) continue;
    const length = Math.min(Number(table.readBigUInt64LE(at + 32)), maxPathBytes);
    const name = bytesAt(file, head, Number(table.readBigUInt64LE(at + 8)), length);
    return [name.toString('utf8').replace(/\0.*$/s, '')];
  }
  return [];
}

// In most files `head` contains the program headers and the path, so the file is not read again.
function bytesAt(file: string, head: Buffer, from: number, count: number): Buffer {
  return from + count <= head.length ? head.subarray(from, from + count) : readBytes(file, from, count);
}

function readBytes(file: string, from: number, count: number): Buffer {
  const bytes = Buffer.alloc(count);
  let fd: number | undefined;
  try {
    fd = openRegularFile(file, 'read');
    return bytes.subarray(0, readSync(fd, bytes, 0, count, from));
  } catch {
    // A file that cannot be read, such as a folder (EISDIR), has no known interpreter.
    return Buffer.alloc(0);
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}
