import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';

/** A part of an `OutputLog`: frames in arrival order, each a 4-byte header followed by bytes of one stream. */
export interface Block {
  /** The log position of the first byte of output in this block. */
  readonly start: Cursor;
  buffer: Buffer;
  used: number;
  /** The offset of the last frame's header; -1 if there is no frame. */
  lastFrame: number;
  readonly capacity: number;
}

const headerBytes = 4;
const stderrBit = 0x8000_0000;
const lengthBits = 0x7fff_ffff;
const smallestBytes = 1024;
const largestBytes = 256 * 1024;

/** Makes an empty block; its buffer is `spare`, or a small one that grows up to a quarter of `ringBytes`. */
export function createBlock(start: Cursor, ringBytes: number, spare?: Buffer | undefined): Block {
  const capacity = Math.min(largestBytes, Math.max(smallestBytes, ringBytes >> 2));
  return { start, buffer: spare ?? Buffer.allocUnsafe(smallestBytes), used: 0, lastFrame: -1, capacity };
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

/** Makes a block from bytes that `Spool` has read from disk. */
export function toBlock(start: Cursor, buffer: Buffer): Block {
  return { start, buffer, used: buffer.length, lastFrame: -1, capacity: buffer.length };
}

/** Copies the output from a log position on, at most `maxBytes`. */
export function readFrames(
  block: Pick<Block, 'start' | 'buffer' | 'used'>,
  from: Cursor,
  maxBytes: number,
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
      chunks.push({ stream, data: Buffer.from(block.buffer.subarray(at + skip, at + skip + count)) });
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
