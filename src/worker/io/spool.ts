import { type FileHandle, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Cursor } from '../../contract/job.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type Block, toBlock } from './block.ts';

/** The older part of an output log, on disk. */
export interface Spool {
  /** Takes blocks, each by the log position where it begins; rejects when they do not fit. */
  append(blocks: readonly { readonly start: Cursor; readonly bytes: Buffer }[]): Promise<void>;
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
    async append(given) {
      const total = given.reduce((sum, { bytes }) => sum + bytes.length, 0);
      if (!quota.claim(total)) throw new SpoolFullError('all commands together have used up the spool');
      let offset = size;
      size += total;
      file ??= await create(path);
      created = true;
      await writeAll(
        file,
        given.map(({ bytes }) => bytes),
        offset,
      );
      for (const { start, bytes } of given) {
        blocks.push({ start, offset, length: bytes.length });
        offset += bytes.length;
      }
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

async function writeAll(file: FileHandle, pieces: readonly Buffer[], offset: number): Promise<void> {
  for (let [left, at] = [pieces, offset]; left.length > 0; ) {
    let { bytesWritten } = await file.writev(left, at);
    at += bytesWritten;
    left = left.flatMap((piece) => {
      const done = Math.min(bytesWritten, piece.length);
      bytesWritten -= done;
      return done === piece.length ? [] : [piece.subarray(done)];
    });
  }
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
