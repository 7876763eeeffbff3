import { createHash } from 'node:crypto';
import type { Cursor, OutputChunk, OutputMark, Stream } from '../../contract/job.ts';
import { createThreadDigest, type Digests, type ThreadDigest } from './digest-thread.ts';
import { OutputMarks } from './output-marks.ts';
import {
  type Allocate,
  appendFrame,
  type Block,
  createBlock,
  readFrames,
  type Spool,
  sealedBytes,
  takeUnwritten,
} from './spool.ts';

/** Options of `OutputLog`. */
export interface OutputLogOptions {
  /** Bytes kept in memory; older ones are moved to `spool`. */
  readonly ringBytes: number;
  readonly spool: Spool;
  /** Writes every byte to the spool as soon as it arrives, so that the output survives this process. */
  readonly writesThrough?: boolean | undefined;
  /** Called when `isFull` has become false. */
  onRelief(): void;
  /** Called once when `spool.append` rejects; all further output is dropped. */
  onSpoolFailure(error: Error): void;
}

// Bytes beyond `ringBytes` that may wait in memory for the spool before reading pauses.
const slackBytes = 4 * 1024 * 1024;
// An ended command may be kept for long; only this much of its output stays in memory.
const endedRingBytes = 64 * 1024;
const mostInlineBytes = 256 * 1024;
const hashedAtOnceBytes = 1_048_576;

/**
 * Both outputs of one command in the order in which they arrived, addressed by byte position. Memory has the newest
 * blocks (`ringBytes`, plus blocks on their way to the spool); the spool has everything older, as a prefix of the log.
 * So memory stays flat, and small outputs never touch the disk.
 */
export class OutputLog {
  readonly #options: OutputLogOptions;
  readonly #marks = new OutputMarks();
  readonly #bytes = { stdout: 0, stderr: 0 };
  /** Present once there is so much output that hashing it would slow down reading. */
  #digest: ThreadDigest | undefined;
  #blocks: Block[] = [];
  /** Buffers of flushed blocks, reused so that a command with much output does not burden the garbage collector. */
  #spareBuffers: Buffer[] = [];
  #bytesInMemory = 0;
  #flushing: Promise<void> | null = null;
  #isBroken = false;
  #isFinished = false;

  constructor(options: OutputLogOptions) {
    this.#options = options;
  }

  get end(): Cursor {
    return this.stdoutBytes + this.stderrBytes;
  }

  get stdoutBytes(): number {
    return this.#bytes.stdout;
  }

  get stderrBytes(): number {
    return this.#bytes.stderr;
  }

  /** The SHA-256 of each stream so far, in hexadecimal; undefined if its output cannot be read any more. */
  async digests(): Promise<Digests | undefined> {
    return (await this.#digest?.digests()) ?? this.#hashAll().catch(() => undefined);
  }

  /** The position before which all output was removed, because running commands needed its space; 0 if none was. */
  get goneBefore(): Cursor {
    return this.#options.spool.isEvicted ? (this.#blocks[0]?.start ?? this.end) : 0;
  }

  /** True while too many bytes in memory wait for the spool: pause reading until `onRelief`. */
  get isFull(): boolean {
    if (this.#isBroken) return false;
    return this.#bytesInMemory > this.#options.ringBytes + slackBytes || this.#digest?.isBehind === true;
  }

  append(stream: Stream, bytes: Uint8Array): void {
    if (this.#isBroken || this.#isFinished) return;
    if (bytes.length > 0) this.#marks.add(this.end);
    for (let rest = bytes; rest.length > 0; ) {
      const count = this.#appendToLastBlock(stream, rest);
      this.#bytes[stream] += count;
      rest = rest.subarray(count);
      if (rest.length > 0) this.#addBlock();
    }
    this.#digest?.add(stream, bytes);
    if (!this.#digest && this.end > this.#inlineBytes) this.#startDigest();
    const isOver = this.#bytesInMemory > this.#options.ringBytes && this.#blocks.length > 1;
    if (isOver || this.#options.writesThrough) void this.#flushOnce();
  }

  /** Resolves when everything appended so far is in the spool, if it `writesThrough`. */
  async written(): Promise<void> {
    while (this.#flushing) await this.#flushing;
  }

  /**
   * Reads at most `maxBytes` starting at a byte position, without consuming them. With `allocate`, which returns parts of the
   * memory of one block, it stops after a block of the spool.
   */
  async read(from: Cursor, maxBytes: number, allocate?: Allocate): Promise<readonly OutputChunk[]> {
    const chunks: OutputChunk[] = [];
    let [at, left] = [from, maxBytes];
    while (left > 0 && at < this.end) {
      const block = this.#blocks.findLast(({ start }) => start <= at);
      // Blocks of memory are reused for later output; those of the spool were read for this call.
      const found = block
        ? readFrames(block, at, left, copyInto(allocate))
        : readFrames(await this.#options.spool.blockAt(at, allocate), at, left, slice);
      chunks.push(...found.chunks);
      at += found.bytes;
      left -= found.bytes;
      if (!block && allocate) break;
    }
    return chunks;
  }

  /** When the bytes between two cursors arrived. */
  marks(from: Cursor, to: Cursor): readonly OutputMark[] {
    return this.#marks.between(from, to);
  }

  /** Ends the log: all but `endedRingBytes` are moved to the spool, everything stays readable. */
  async finish(): Promise<void> {
    this.#isFinished = true;
    this.#spareBuffers = [];
    this.#digest?.close();
    await this.#flushing;
    await this.#flushOnce();
    await this.#options.spool.close();
  }

  /** Removes the spool; `read` must not be called afterwards. */
  async dispose(): Promise<void> {
    this.#isBroken = true;
    this.#digest?.close();
    await this.#flushing;
    this.#blocks = [];
    this.#spareBuffers = [];
    await this.#options.spool.dispose();
  }

  /** Up to this much output is hashed at the end, when all of it is still in memory. */
  get #inlineBytes(): number {
    return Math.min(mostInlineBytes, this.#options.ringBytes >> 1);
  }

  #startDigest(): void {
    const digest = createThreadDigest(() => this.#relieve());
    for (const block of this.#blocks) {
      // `add` copies the bytes.
      for (const { stream, data } of readFrames(block, block.start, block.used, slice).chunks)
        digest.add(stream, data);
    }
    this.#digest = digest;
  }

  #relieve(): void {
    if (!this.isFull) this.#options.onRelief();
  }

  async #hashAll(): Promise<Digests> {
    const hashes = { stdout: createHash('sha256'), stderr: createHash('sha256') };
    for (let at = 0, { end } = this; at < end; ) {
      const chunks = await this.read(at, Math.min(hashedAtOnceBytes, end - at));
      for (const { stream, data } of chunks) hashes[stream].update(data);
      if (chunks.length === 0) throw new Error(`Position ${at} is not in the log.`);
      at += chunks.reduce((sum, { data }) => sum + data.length, 0);
    }
    return { stdout: hashes.stdout.digest('hex'), stderr: hashes.stderr.digest('hex') };
  }

  #appendToLastBlock(stream: Stream, bytes: Uint8Array): number {
    const block = this.#blocks.at(-1) ?? this.#addBlock();
    const usedBefore = block.used;
    const count = appendFrame(block, stream, bytes);
    this.#bytesInMemory += block.used - usedBefore;
    return count;
  }

  #addBlock(): Block {
    const block = createBlock(this.end, this.#options.ringBytes, this.#spareBuffers.pop());
    this.#blocks.push(block);
    return block;
  }

  #flushOnce(): Promise<void> {
    this.#flushing ??= (this.#options.writesThrough ? this.#writeThrough() : this.#flush()).finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    const { spool, onSpoolFailure } = this.#options;
    for (let old = this.#blocksToFlush(); old.length > 0 && !this.#isBroken; old = this.#blocksToFlush()) {
      try {
        await spool.append(old.map((block) => ({ start: block.start, bytes: sealedBytes(block) })));
      } catch (error) {
        this.#isBroken = true;
        onSpoolFailure(error as Error);
        return;
      }
      this.#blocks = this.#blocks.slice(old.length);
      this.#bytesInMemory -= old.reduce((sum, { used }) => sum + used, 0);
      if (!this.#isFinished) this.#spareBuffers.push(...old.map(({ buffer }) => buffer));
      this.#relieve();
    }
  }

  async #writeThrough(): Promise<void> {
    const { spool, onSpoolFailure } = this.#options;
    for (let open = this.#unwritten(); open.length > 0 && !this.#isBroken; open = this.#unwritten()) {
      const parts = open.map((block) => ({ block, upTo: block.used, ...takeUnwritten(block) }));
      try {
        await spool.append(parts);
      } catch (error) {
        this.#isBroken = true;
        onSpoolFailure(error as Error);
        return;
      }
      for (const { block, upTo } of parts) block.written = upTo;
      this.#dropWritten();
      this.#relieve();
    }
    if (this.#isFinished) this.#dropWritten();
  }

  #unwritten(): readonly Block[] {
    return this.#blocks.filter(({ written, used }) => written < used);
  }

  #dropWritten(): void {
    const old = this.#blocksToFlush();
    const open = old.findIndex(({ written, used }) => written < used);
    const dropped = open < 0 ? old : old.slice(0, open);
    this.#blocks = this.#blocks.slice(dropped.length);
    this.#bytesInMemory -= dropped.reduce((sum, { used }) => sum + used, 0);
    if (!this.#isFinished) this.#spareBuffers.push(...dropped.map(({ buffer }) => buffer));
  }

  /** The oldest blocks, as many as exceed the limit on memory; never the one that is being filled. */
  #blocksToFlush(): readonly Block[] {
    const { ringBytes } = this.#options;
    const maxBytes = this.#isFinished ? Math.min(ringBytes, endedRingBytes) : ringBytes;
    const sealed = this.#isFinished ? this.#blocks : this.#blocks.slice(0, -1);
    let left = this.#bytesInMemory;
    const firstKept = sealed.findIndex((block) => {
      if (left <= maxBytes) return true;
      left -= block.used;
      return false;
    });
    return firstKept < 0 ? sealed : sealed.slice(0, firstKept);
  }
}

const slice = (buffer: Buffer, start: number, end: number) => buffer.subarray(start, end);

function copyInto(allocate: Allocate = Buffer.allocUnsafe): typeof slice {
  return (buffer, start, end) => {
    const copy = allocate(end - start);
    buffer.copy(copy, 0, start, end);
    return copy;
  };
}
