import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Cursor } from '../../contract/job.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type Block, toBlock } from './block.ts';

/** The disk space in bytes that the spools of all commands share. */
export class SpoolQuota {
  readonly #maxBytes: number;
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  claim(bytes: number): boolean {
    if (this.#usedBytes + bytes > this.#maxBytes) return false;
    this.#usedBytes += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}

/** Thrown by `Spool.append` when the shared quota is used up. */
export class SpoolFullError extends Error {}

/** The bytes of a `Block`, and the log position at which they begin. */
export interface SpoolEntry {
  readonly start: Cursor;
  readonly bytes: Buffer;
}

/** The older part of an `OutputLog`, in a private file that is created when the first block arrives. */
export class Spool {
  readonly #path: string;
  readonly #quota: SpoolQuota;
  readonly #index: { start: Cursor; offset: number; length: number }[] = [];
  #file: FileHandle | null = null;
  #created = false;
  #size = 0;

  constructor(path: string, quota: SpoolQuota) {
    this.#path = path;
    this.#quota = quota;
  }

  /** Appends blocks; rejects with `SpoolFullError` if they do not fit into the quota, or if they cannot be written. */
  async append(entries: readonly SpoolEntry[]): Promise<void> {
    const total = entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (!this.#quota.claim(total)) throw new SpoolFullError('all commands together have used up the spool');
    let offset = this.#size;
    this.#size += total;
    this.#file ??= await createFile(this.#path);
    this.#created = true;
    const buffers = entries.map(({ bytes }) => bytes);
    await writeAll(this.#file, buffers, offset);
    for (const { start, bytes } of entries) {
      this.#index.push({ start, offset, length: bytes.length });
      offset += bytes.length;
    }
  }

  /** Reads the block that contains a log position. */
  async blockAt(position: Cursor): Promise<Block> {
    const entry = this.#index.findLast(({ start }) => start <= position);
    if (!entry) throw new Error(`Position ${position} is not in the spool.`);
    return toBlock(entry.start, await readRange(this.#path, entry.offset, entry.length));
  }

  /** Closes the file for writing; its blocks stay readable. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    await file?.close();
  }

  /** Removes the file and releases its part of the quota. */
  async dispose(): Promise<void> {
    await this.close();
    if (this.#created) await rm(this.#path, { force: true });
    this.#quota.release(this.#size);
    this.#size = 0;
  }
}

function createFile(path: string): Promise<FileHandle> {
  makeFolder(dirname(path));
  return open(path, 'wx', 0o600);
}

async function writeAll(file: FileHandle, buffers: readonly Buffer[], offset: number): Promise<void> {
  for (let [left, at] = [buffers, offset]; left.length > 0; ) {
    let { bytesWritten } = await file.writev(left, at);
    at += bytesWritten;
    left = left.flatMap((buffer) => {
      const done = Math.min(bytesWritten, buffer.length);
      bytesWritten -= done;
      return done === buffer.length ? [] : [buffer.subarray(done)];
    });
  }
}

async function readRange(path: string, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  const file = await open(path, 'r');
  try {
    for (let done = 0; done < length; ) {
      const { bytesRead } = await file.read(buffer, done, length - done, offset + done);
      if (bytesRead === 0) throw new Error(`${path} is shorter than what was written to it.`);
      done += bytesRead;
    }
  } finally {
    await file.close();
  }
  return buffer;
}
