import { type FileHandle, open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';
import { makeFolder } from '../../support/make-folder.ts';

/** A spool whose disk space can be reclaimed for others. */
export interface EvictableSpool {
  /** Releases its part of the quota at once, and removes the file. */
  evict(): Promise<void>;
}

/**
 * The disk space in bytes that the spools of all commands share. When it is used up, the spools of ended commands are
 * removed to make room for running ones, in the order in which the commands ended.
 */
export class SpoolQuota {
  readonly #maxBytes: number;
  readonly #ended = new Set<EvictableSpool>();
  #usedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  claim(bytes: number): boolean {
    if (bytes > this.#maxBytes) return false;
    for (const spool of this.#ended) {
      if (this.#usedBytes + bytes <= this.#maxBytes) break;
      this.#ended.delete(spool);
      void spool.evict();
    }
    if (this.#usedBytes + bytes > this.#maxBytes) return false;
    this.#usedBytes += bytes;
    return true;
  }

  /** Removes the spool of the command that ended first; returns false if there is none. */
  async evictOldest(): Promise<boolean> {
    const [oldest] = this.#ended;
    if (!oldest) return false;
    this.#ended.delete(oldest);
    await oldest.evict();
    return true;
  }

  /** Adds the spool of a command that has ended. */
  offer(spool: EvictableSpool): void {
    this.#ended.add(spool);
  }

  withdraw(spool: EvictableSpool): void {
    this.#ended.delete(spool);
  }

  release(bytes: number): void {
    this.#usedBytes -= bytes;
  }
}

/** Thrown by `Spool.append` when the shared quota is used up. */
export class SpoolFullError extends Error {}

/** Frames of a `Block`, and the log position at which they begin. */
export interface SpoolEntry {
  readonly start: Cursor;
  readonly bytes: Buffer;
}

/** The most bytes of a block, with the headers of its frames. */
export const largestBlockBytes = 262_144;

/** Returns memory for so many bytes. */
export type Allocate = (bytes: number) => Buffer;

// A command with more output than this leaves as much of the disk free, so that records can still be written.
const reservedBytes = 1_048_576;

// A log that is written through arrives in small pieces; one index entry for each would need too much memory, and reading them
// one by one too much time.
const indexedBytes = largestBlockBytes;

/** The older part of an `OutputLog`, in a private file that is created when the first block arrives. */
export class Spool implements EvictableSpool {
  readonly #path: string;
  readonly #quota: SpoolQuota;
  readonly #index: { start: Cursor; offset: number; length: number }[] = [];
  /** True if the file stays after `dispose`. */
  readonly #keepsFile: boolean;
  #file: FileHandle | null = null;
  #created = false;
  #size = 0;
  #isEvicted = false;

  constructor(path: string, quota: SpoolQuota, { keepsFile = false } = {}) {
    this.#path = path;
    this.#quota = quota;
    this.#keepsFile = keepsFile;
  }

  /** True once its blocks were removed to make room for a running command. */
  get isEvicted(): boolean {
    return this.#isEvicted;
  }

  /** Appends blocks; rejects with `SpoolFullError` if they do not fit into the quota, or if they cannot be written. */
  async append(entries: readonly SpoolEntry[]): Promise<void> {
    const total = entries.reduce((sum, { bytes }) => sum + bytes.length, 0);
    if (!this.#quota.claim(total)) throw new SpoolFullError('all commands together have used up the spool');
    let offset = this.#size;
    this.#size += total;
    const buffers = entries.map(({ bytes }) => bytes);
    await this.#write(buffers, offset);
    for (const { start, bytes } of entries) {
      const last = this.#index.at(-1);
      if (this.#keepsFile && last && last.length + bytes.length <= indexedBytes) last.length += bytes.length;
      else this.#index.push({ start, offset, length: bytes.length });
      offset += bytes.length;
    }
  }

  // On a full disk, spools of ended commands are removed, as for the quota.
  async #write(buffers: readonly Buffer[], offset: number): Promise<void> {
    for (;;) {
      try {
        this.#file ??= await createFile(this.#path);
        this.#created = true;
        if (this.#size > reservedBytes) await checkFreeSpace(this.#path, this.#size - offset);
        return await writeAll(this.#file, buffers, offset);
      } catch (error) {
        await this.#file?.truncate(offset).catch(() => {});
        if (!isDiskFull(error) || !(await this.#quota.evictOldest())) throw error;
      }
    }
  }

  /** Reads the block that contains a log position, into the memory that `allocate` returns. */
  async blockAt(position: Cursor, allocate: Allocate = Buffer.allocUnsafe): Promise<Block> {
    const entry = this.#index[this.#findEntry(position)];
    if (!entry) throw new Error(`Position ${position} is not in the spool.`);
    const { start, offset, length } = entry;
    const own = this.#file;
    const file = own ?? (await open(this.#path, 'r'));
    try {
      return toBlock(start, await readRange(file, this.#path, offset, allocate(length)));
    } finally {
      if (!own) await file.close();
    }
  }

  // The last entry that begins at or before a position; -1 if there is none.
  #findEntry(position: Cursor): number {
    let [low, high] = [0, this.#index.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#index[middle]?.start ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  /** Closes the file for writing; its blocks stay readable until the quota needs their space. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = null;
    if (this.#size > 0) this.#quota.offer(this);
    await file?.close();
  }

  async evict(): Promise<void> {
    this.#isEvicted = true;
    this.#quota.release(this.#size);
    this.#size = 0;
    await rm(this.#path, { force: true }).catch(() => {});
  }

  /** Removes the file and releases its part of the quota. */
  async dispose(): Promise<void> {
    await this.close();
    this.#quota.withdraw(this);
    if (this.#created && !this.#keepsFile) await rm(this.#path, { force: true });
    this.#quota.release(this.#size);
    this.#size = 0;
  }
}

function createFile(path: string): Promise<FileHandle> {
  makeFolder(dirname(path));
  return open(path, 'wx+', 0o600);
}

async function checkFreeSpace(path: string, neededBytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(path);
  if (bavail * bsize > reservedBytes + neededBytes) return;
  const message = `ENOSPC: less than 1 MiB would be free on the disk of ${dirname(path)}`;
  throw Object.assign(new Error(message), { code: 'ENOSPC' });
}

function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '');
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

async function readRange(file: FileHandle, path: string, offset: number, buffer: Buffer): Promise<Buffer> {
  for (let done = 0; done < buffer.length; ) {
    const { bytesRead } = await file.read(buffer, done, buffer.length - done, offset + done);
    if (bytesRead === 0) throw new Error(`${path} is shorter than what was written to it.`);
    done += bytesRead;
  }
  return buffer;
}

/** A part of an `OutputLog`: frames in arrival order, each a 4-byte header followed by bytes of one stream. */
export interface Block {
  /** The log position of the first byte of output in this block. */
  readonly start: Cursor;
  buffer: Buffer;
  used: number;
  /** The offset of the last frame's header; -1 if there is no frame that may be extended. */
  lastFrame: number;
  /** How many of the used bytes are in the spool, if the log is written through, and how much output they are. */
  written: number;
  writtenOutput: number;
  readonly capacity: number;
}

const headerBytes = 4;
const stderrBit = 0x8000_0000;
const lengthBits = 0x7fff_ffff;
const smallestBytes = 1024;

/** Makes an empty block; its buffer is `spare`, or a small one that grows up to a quarter of `ringBytes`. */
export function createBlock(start: Cursor, ringBytes: number, spare?: Buffer | undefined): Block {
  const capacity = Math.min(largestBlockBytes, Math.max(smallestBytes, ringBytes >> 2));
  return {
    start,
    buffer: spare ?? Buffer.allocUnsafe(smallestBytes),
    used: 0,
    lastFrame: -1,
    written: 0,
    writtenOutput: 0,
    capacity,
  };
}

/** Appends as many bytes as fit and returns their number: 0 if the block is full. */
export function appendFrame(block: Block, stream: Stream, bytes: Uint8Array): number {
  const extend = block.lastFrame >= 0 && streamAt(block.buffer, block.lastFrame) === stream;
  const overhead = extend ? 0 : headerBytes;
  const appended = Math.min(bytes.length, block.capacity - block.used - overhead);
  if (appended <= 0) return 0;
  makeRoom(block, overhead + appended);
  if (!extend) {
    block.lastFrame = block.used;
    block.used += headerBytes;
    block.buffer.writeUInt32LE(stream === 'stderr' ? stderrBit : 0, block.lastFrame);
  }
  block.buffer.set(appended === bytes.length ? bytes : bytes.subarray(0, appended), block.used);
  block.used += appended;
  block.buffer.writeUInt32LE(block.buffer.readUInt32LE(block.lastFrame) + appended, block.lastFrame);
  return appended;
}

/** The bytes of a block as `Spool` writes them to disk. */
export function sealedBytes(block: Block): Buffer {
  return block.buffer.subarray(0, block.used);
}

/** The frames of a block that are not in the spool yet; the next bytes begin another frame. */
export function takeUnwritten(block: Block): { readonly start: Cursor; readonly bytes: Buffer } {
  block.lastFrame = -1;
  const { buffer, used, written } = block;
  const [start, bytes] = [block.start + block.writtenOutput, buffer.subarray(written, used)];
  block.writtenOutput += countOutput(bytes);
  return { start, bytes };
}

/** The number of bytes of output in frames. */
function countOutput(frames: Buffer): number {
  let bytes = 0;
  for (let at = 0; at < frames.length; ) {
    const length = frames.readUInt32LE(at) & lengthBits;
    bytes += length;
    at += headerBytes + length;
  }
  return bytes;
}

/** Makes a block from bytes that `Spool` has read from disk. */
export function toBlock(start: Cursor, buffer: Buffer): Block {
  const used = buffer.length;
  return { start, buffer, used, lastFrame: -1, written: used, writtenOutput: 0, capacity: used };
}

/** Returns at most `maxBytes` of output, starting at a log position; `take` returns the bytes from one offset to another. */
export function readFrames(
  block: Pick<Block, 'start' | 'buffer' | 'used'>,
  from: Cursor,
  maxBytes: number,
  take: (buffer: Buffer, start: number, end: number) => Buffer,
): { chunks: readonly OutputChunk[]; bytes: number } {
  const chunks: OutputChunk[] = [];
  let bytes = 0;
  let position = block.start;
  for (let at = 0; at < block.used && bytes < maxBytes; ) {
    const length = block.buffer.readUInt32LE(at) & lengthBits;
    const stream = streamAt(block.buffer, at);
    at += headerBytes;
    const skip = Math.max(0, from - position);
    const count = Math.min(length - skip, maxBytes - bytes);
    if (count > 0) {
      chunks.push({ stream, data: take(block.buffer, at + skip, at + skip + count) });
      bytes += count;
    }
    at += length;
    position += length;
  }
  return { chunks, bytes };
}

function streamAt(buffer: Buffer, frame: number): Stream {
  return (buffer.readUInt32LE(frame) & stderrBit) === 0 ? 'stdout' : 'stderr';
}

function makeRoom(block: Block, bytes: number): void {
  const needed = block.used + bytes;
  if (needed <= block.buffer.length) return;
  const grown = Buffer.allocUnsafeSlow(Math.min(block.capacity, Math.max(needed, block.buffer.length * 2)));
  block.buffer.copy(grown, 0, 0, block.used);
  block.buffer = grown;
}
