import { createHash, type Hash, hash } from 'node:crypto';
import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';
import { appendFrame, type Block, createBlock, readFrames, sealedBytes } from './block.ts';
import type { Spool } from './spool.ts';

/** Both outputs of one command in the order in which they arrived, addressed by byte position. */
export interface OutputLog {
  readonly end: Cursor;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** SHA-256 of each stream so far, in hexadecimal digits. */
  digests(): Readonly<Record<Stream, string>>;
  /** True while more waits to be written than memory should hold: stop reading until `onRelief`. */
  readonly pressed: boolean;
  append(stream: Stream, bytes: Uint8Array): void;
  /** Bytes from a position on, at most `maxBytes` of them. Never drains. */
  read(from: Cursor, maxBytes: number): Promise<readonly OutputChunk[]>;
  /** Nothing more arrives: a large output leaves memory, all of it stays readable. */
  finish(): Promise<void>;
  /** Removes what is on disk; the log is not read afterwards. */
  dispose(): Promise<void>;
}

/** What a log needs to know. */
export interface OutputLogOptions {
  /** Bytes kept in memory; older ones go to the spool. */
  readonly ringBytes: number;
  readonly spool: Spool;
  /** Called when `pressed` has turned false. */
  onRelief(): void;
  /** Called once when the spool refuses bytes; what did not fit is dropped from then on. */
  onSpoolFailure(error: Error): void;
}

const ofNothing = hash('sha256', '');
const slackBytes = 4 * 1024 * 1024;
// An ended command may be kept for long; then only a small output stays in memory.
const restingBytes = 64 * 1024;

/**
 * The log of a command's output. Memory holds the newest blocks, up to the ring's size plus what is on its way to
 * the spool; the spool holds everything older, as a prefix of the log. So memory stays flat and small outputs never
 * touch the disk.
 */
export function createOutputLog(options: OutputLogOptions): OutputLog {
  const { ringBytes, spool } = options;
  const counts = { stdout: 0, stderr: 0 };
  const hashes: { [name in Stream]?: Hash } = {};
  let blocks: Block[] = [];
  let spares: Buffer[] = [];
  let held = 0;
  let flushing: Promise<void> | null = null;
  let broken = false;
  let finished = false;

  const addBlock = () => {
    const block = createBlock(counts.stdout + counts.stderr, ringBytes, spares.pop());
    blocks.push(block);
    return block;
  };
  const flush = async () => {
    for (let going = oldest(); going.length > 0 && !broken; going = oldest()) {
      try {
        await spool.append(going.map((block) => ({ start: block.start, bytes: sealedBytes(block) })));
      } catch (error) {
        broken = true;
        options.onSpoolFailure(error as Error);
        return;
      }
      blocks = blocks.slice(going.length);
      held -= usedBy(going);
      // Buffers that are used again are not collected: much output would keep the collector busy.
      if (!finished) spares.push(...going.map(({ buffer }) => buffer));
      if (held <= ringBytes + slackBytes) options.onRelief();
    }
  };
  /** The blocks that memory need not hold; the one that is being filled stays. */
  const oldest = () => {
    const sealed = finished ? blocks : blocks.slice(0, -1);
    let left = held;
    const kept = sealed.findIndex((block) => {
      if (left <= keptBytes()) return true;
      left -= block.used;
      return false;
    });
    return kept < 0 ? sealed : sealed.slice(0, kept);
  };
  const keptBytes = () => (finished ? Math.min(ringBytes, restingBytes) : ringBytes);
  const flushOnce = () => {
    flushing ??= flush().finally(() => {
      flushing = null;
    });
    return flushing;
  };

  return {
    get end() {
      return counts.stdout + counts.stderr;
    },
    get stdoutBytes() {
      return counts.stdout;
    },
    get stderrBytes() {
      return counts.stderr;
    },
    digests: () => ({
      stdout: hashes.stdout?.copy().digest('hex') ?? ofNothing,
      stderr: hashes.stderr?.copy().digest('hex') ?? ofNothing,
    }),
    get pressed() {
      return !broken && held > ringBytes + slackBytes;
    },
    append(stream, bytes) {
      if (broken || finished) return;
      let rest = bytes;
      while (rest.length > 0) {
        const block = blocks.at(-1) ?? addBlock();
        const before = block.used;
        const taken = appendFrame(block, stream, rest);
        held += block.used - before;
        counts[stream] += taken;
        hashes[stream] ??= createHash('sha256');
        hashes[stream].update(taken === rest.length ? rest : rest.subarray(0, taken));
        rest = rest.subarray(taken);
        if (rest.length > 0) addBlock();
      }
      if (held > ringBytes && blocks.length > 1) flushOnce();
    },
    async read(from, maxBytes) {
      const chunks: OutputChunk[] = [];
      let at = from;
      let room = maxBytes;
      while (room > 0 && at < counts.stdout + counts.stderr) {
        const block = blocks.findLast((candidate) => candidate.start <= at) ?? (await spool.blockAt(at));
        const found = readFrames(block, at, room);
        chunks.push(...found.chunks);
        at += found.bytes;
        room -= found.bytes;
      }
      return chunks;
    },
    async finish() {
      finished = true;
      spares = [];
      await flushing;
      await flushOnce();
      await spool.close();
    },
    async dispose() {
      broken = true;
      await flushing;
      blocks = [];
      spares = [];
      await spool.dispose();
    },
  };
}

function usedBy(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { used }) => sum + used, 0);
}
