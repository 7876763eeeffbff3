import { constants } from 'node:fs';
import { type FileHandle, open, rm, stat } from 'node:fs/promises';
import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';

interface Frame {
  readonly start: Cursor;
  readonly offset: number;
  readonly bytes: number;
  readonly stream: Stream;
}

// A FIFO in its place must not make `open` wait for a writer.
const reading = constants.O_RDONLY | constants.O_NONBLOCK;
const headerBytes = 4;
const stderrBit = 0x8000_0000;
const lengthBits = 0x7fff_ffff;
const scanBytes = 1_048_576;

/** The log that a worker left on disk, as `Spool` wrote it; the last frame may be incomplete. */
export class PastLog {
  readonly #path: string;
  #frames: Promise<readonly Frame[]> | null = null;

  constructor(path: string) {
    this.#path = path;
  }

  /** The size of its file; 0 if there is none. */
  async bytesOnDisk(): Promise<number> {
    const found = await stat(this.#path).catch(() => null);
    return found?.size ?? 0;
  }

  async remove(): Promise<void> {
    await rm(this.#path, { force: true });
    this.#frames = null;
  }

  /** The number of bytes of each stream. */
  async sizes(): Promise<Readonly<Record<Stream, number>>> {
    const sizes = { stdout: 0, stderr: 0 };
    for (const { stream, bytes } of await this.#index()) sizes[stream] += bytes;
    return sizes;
  }

  /** Reads at most `maxBytes` from a position. */
  async read(from: Cursor, maxBytes: number): Promise<readonly OutputChunk[]> {
    const frames = await this.#index();
    const chunks: OutputChunk[] = [];
    let [at, left] = [from, maxBytes];
    const file = await open(this.#path, reading).catch(() => null);
    try {
      for (let index = findFrame(frames, at); left > 0 && index < frames.length; index += 1) {
        const frame = frames[index];
        if (!frame || !file) break;
        const skip = Math.max(0, at - frame.start);
        const data = await readAt(file, frame.offset + skip, Math.min(frame.bytes - skip, left));
        if (data.length > 0) chunks.push({ stream: frame.stream, data });
        at += data.length;
        left -= data.length;
      }
    } finally {
      await file?.close();
    }
    return chunks;
  }

  #index(): Promise<readonly Frame[]> {
    this.#frames ??= scan(this.#path);
    return this.#frames;
  }
}

function findFrame(frames: readonly Frame[], at: Cursor): number {
  let [low, high] = [0, frames.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const frame = frames[middle];
    if (frame && frame.start + frame.bytes <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

async function scan(path: string): Promise<readonly Frame[]> {
  const file = await open(path, reading).catch(() => null);
  if (!file) return [];
  try {
    const { size } = await file.stat();
    const frames: Frame[] = [];
    let [offset, start] = [0, 0];
    let block: Buffer = Buffer.alloc(0);
    let blockAt = 0;
    while (offset + headerBytes <= size) {
      if (offset + headerBytes > blockAt + block.length || offset < blockAt) {
        blockAt = offset;
        block = await readAt(file, offset, Math.min(scanBytes, size - offset));
        if (block.length < headerBytes) break;
      }
      const header = block.readUInt32LE(offset - blockAt);
      const bytes = Math.min(header & lengthBits, size - offset - headerBytes);
      const stream = (header & stderrBit) === 0 ? 'stdout' : 'stderr';
      if (bytes > 0) frames.push({ start, offset: offset + headerBytes, bytes, stream });
      offset += headerBytes + (header & lengthBits);
      start += bytes;
    }
    return frames;
  } finally {
    await file.close();
  }
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(Math.max(0, length));
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, offset + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return buffer.subarray(0, done);
}
