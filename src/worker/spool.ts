import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Cursor } from '../contract/job.ts';
import { makeFolder } from '../support/make-folder.ts';
import { type Block, toBlock } from './block.ts';

/** The older part of an output log, on disk. */
export interface Spool {
  /** Takes the bytes of a block that begins at a log position; rejects when they do not fit. */
  append(start: Cursor, bytes: Buffer): Promise<void>;
  /** The block that holds a log position. */
  blockAt(position: Cursor): Promise<Block>;
  /** No more will be written; what is there stays readable. */
  close(): Promise<void>;
  dispose(): Promise<void>;
}

/** Bytes on disk that all commands share. */
export interface SpoolQuota {
  readonly usedBytes: number;
  /** Claims room; false when there is not enough. */
  claim(bytes: number): boolean;
  release(bytes: number): void;
}

/** The shared quota is used up: the command that wanted more is ended. */
export class SpoolFullError extends Error {}

/** Makes a quota of so many bytes. */
export function createSpoolQuota(maxBytes: number): SpoolQuota {
  let usedBytes = 0;
  return {
    get usedBytes() {
      return usedBytes;
    },
    claim(bytes) {
      if (usedBytes + bytes > maxBytes) return false;
      usedBytes += bytes;
      return true;
    },
    release(bytes) {
      usedBytes -= bytes;
    },
  };
}

/** Makes a spool on a private file that is created when the first block arrives. */
export function createSpool(path: string, quota: SpoolQuota): Spool {
  const blocks: { start: Cursor; offset: number; length: number }[] = [];
  let file: FileHandle | null = null;
  let created = false;
  let size = 0;

  const close = async () => {
    const closing = file;
    file = null;
    await closing?.close();
  };

  return {
    async append(start, bytes) {
      if (!quota.claim(bytes.length))
        throw new SpoolFullError('all commands together have used up the spool');
      const offset = size;
      size += bytes.length;
      file ??= await create(path);
      created = true;
      for (let done = 0; done < bytes.length; ) {
        done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten;
      }
      blocks.push({ start, offset, length: bytes.length });
    },
    async blockAt(position) {
      const entry = blocks.findLast((block) => block.start <= position);
      if (!entry) throw new Error(`Position ${position} is not in the spool.`);
      return toBlock(entry.start, await readPiece(path, entry.offset, entry.length));
    },
    close,
    async dispose() {
      await close();
      if (created) await rm(path, { force: true });
      quota.release(size);
      size = 0;
    },
  };
}

function create(path: string): Promise<FileHandle> {
  makeFolder(dirname(path));
  return open(path, 'wx', 0o600);
}

async function readPiece(path: string, offset: number, length: number): Promise<Buffer> {
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
