import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import type { OutputChunk, Stream } from '../../contract/job.ts';
import { endDigestThread } from './digest-thread.ts';
import { OutputLog } from './output-log.ts';
import { largestBlockBytes, Spool, SpoolQuota } from './spool.ts';

let folder = '';
let quota: SpoolQuota;
let made = 0;
beforeEach(() => {
  folder = temporaryFolder();
  quota = new SpoolQuota(64 * 1024 * 1024);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ignore = { onRelief() {}, onSpoolFailure() {} };
const newLog = (ringBytes: number, events: Partial<typeof ignore> = {}) =>
  new OutputLog({
    ringBytes,
    spool: new Spool(join(folder, 'spool', `log-${made++}`), quota),
    ...ignore,
    ...events,
  });

/** Bytes that depend on their position, so that a mix-up is detected. */
function pattern(size: number, seed: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  for (let index = 0; index < size; index += 1) bytes[index] = index * 31 + seed * 17 + (index >> 8);
  return bytes;
}

const joined = (chunks: readonly OutputChunk[]) => ({
  stdout: Buffer.concat(chunks.filter(({ stream }) => stream === 'stdout').map(({ data }) => data)),
  stderr: Buffer.concat(chunks.filter(({ stream }) => stream === 'stderr').map(({ data }) => data)),
  all: Buffer.concat(chunks.map(({ data }) => data)),
});

async function readAll(log: OutputLog, from: number, piece: number) {
  const chunks: OutputChunk[] = [];
  for (let at = from; at < log.end; ) {
    const found = await log.read(at, piece);
    const bytes = found.reduce((sum, { data }) => sum + data.length, 0);
    expect(bytes).toBe(Math.min(piece, log.end - at));
    chunks.push(...found);
    at += bytes;
  }
  return chunks;
}

const appends = fc.array(
  fc.record({
    stream: fc.constantFrom<Stream>('stdout', 'stderr'),
    size: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 9_000 })),
    settle: fc.boolean(),
  }),
  { maxLength: 40 },
);

describe('E4: appended output', () => {
  test('is read back byte for byte, in order and per stream, from any cursor, from memory and disk', async () => {
    await fc.assert(
      fc.asyncProperty(
        appends,
        fc.integer({ min: 0, max: 20_000 }),
        fc.oneof(fc.integer({ min: 60, max: 12_000 }), fc.constant(1_000_000)),
        fc.nat(),
        fc.boolean(),
        async (steps, ringBytes, piece, cursor, finish) => {
          const log = newLog(ringBytes);
          const wanted: OutputChunk[] = [];
          for (const [index, { stream, size, settle }] of steps.entries()) {
            const data = pattern(size, index);
            log.append(stream, data);
            wanted.push({ stream, data });
            if (settle) await readAll(log, cursor % (log.end + 1), piece);
          }
          if (finish) await log.finish();
          const { stdout, stderr, all } = joined(wanted);
          expect({ out: log.stdoutBytes, err: log.stderrBytes, end: log.end }).toEqual({
            out: stdout.length,
            err: stderr.length,
            end: all.length,
          });
          const found = joined(await readAll(log, 0, piece));
          expect(found.stdout.equals(stdout) && found.stderr.equals(stderr) && found.all.equals(all)).toBe(
            true,
          );
          const from = cursor % (all.length + 1);
          expect(joined(await readAll(log, from, piece)).all.equals(all.subarray(from))).toBe(true);
          await log.dispose();
        },
      ),
      { numRuns: 80 },
    );
    expect(quota.usedBytes).toBe(0);
    expect(readdirSync(join(folder, 'spool'))).toEqual([]);
  });

  test('is read back correctly while more is being written and flushed', async () => {
    const log = newLog(4_096);
    const pieces = Array.from({ length: 300 }, (_, index) => pattern(1_000 + index, index));
    const writing = (async () => {
      for (const piece of pieces) {
        log.append('stdout', piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
    })();
    const readers = [1, 777, 65_536].map(async (size) => {
      const seen: Buffer[] = [];
      const total = pieces.reduce((sum, { length }) => sum + length, 0);
      for (let at = 0; at < total; ) {
        const found = joined(await log.read(at, Math.max(size, 500))).all;
        at += found.length;
        seen.push(found);
        if (found.length === 0) await new Promise((resolve) => setImmediate(resolve));
      }
      return Buffer.concat(seen);
    });
    await writing;
    const whole = Buffer.concat(pieces);
    for (const seen of await Promise.all(readers)) expect(seen.equals(whole)).toBe(true);
    await log.dispose();
  });
});

test('S6: a digest covers every byte of its stream, including those on disk', async () => {
  quota = new SpoolQuota(1_073_741_824);
  const log = newLog(1_048_576);
  const hashes = { stdout: createHash('sha256'), stderr: createHash('sha256') };
  const piece = pattern(1_000_003, 1);
  for (let round = 0; round < 72; round += 1) {
    const stream = round % 9 === 8 ? 'stderr' : 'stdout';
    log.append(stream, piece);
    hashes[stream].update(piece);
    if (log.isFull) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(await log.digests()).toEqual({
    stdout: hashes.stdout.digest('hex'),
    stderr: hashes.stderr.digest('hex'),
  });
  await log.dispose();
});

test('S6: a digest is that of the bytes in the log, however little or much there is, and without its thread', async () => {
  for (const size of [0, 1, 262_144, 262_145, 3_000_001])
    for (const ringBytes of [4_096, 1_048_576]) {
      const log = newLog(ringBytes);
      const bytes = pattern(size, 1);
      for (let at = 0; at < size; at += 65_536) {
        log.append('stderr', bytes.subarray(at, at + 65_536));
        if (log.isFull) await new Promise((resolve) => setImmediate(resolve));
      }
      const expected = createHash('sha256').update(bytes).digest('hex');
      expect(await log.digests(), `${size} ${ringBytes}`).toMatchObject({ stderr: expected });
      // Its digests are asked for again after the thread has ended.
      endDigestThread();
      expect(await log.digests(), `${size} ${ringBytes}`).toMatchObject({ stderr: expected });
      await log.dispose();
    }
});

describe('E3: a log', () => {
  test('does not write a small output to disk', async () => {
    const log = newLog(65_536);
    log.append('stdout', pattern(60_000, 1));
    await log.finish();
    expect(existsSync(join(folder, 'spool'))).toBe(false);
    expect(joined(await log.read(0, 100_000)).stdout.equals(pattern(60_000, 1))).toBe(true);
  });

  test('moves a large output to disk when it is finished', async () => {
    const log = newLog(1_048_576);
    log.append('stdout', pattern(300_000, 2));
    expect(quota.usedBytes).toBe(0);
    await log.finish();
    expect(quota.usedBytes).toBeGreaterThan(200_000);
    expect(joined(await readAll(log, 0, 70_000)).all.equals(pattern(300_000, 2))).toBe(true);
  });

  test('that is read block by block reads each block of the spool once', async () => {
    const log = newLog(1_048_576);
    const whole = pattern(3_000_000, 3);
    log.append('stdout', whole);
    await log.finish();
    const read = vi.spyOn(Spool.prototype, 'blockAt');
    const pieces: Buffer[] = [];
    for (let at = 0; at < log.end; at = pieces.reduce((sum, { length }) => sum + length, 0)) {
      let allocated = 0;
      const found = await log.read(at, largestBlockBytes, (bytes) => {
        allocated += bytes;
        return Buffer.allocUnsafe(bytes);
      });
      expect(allocated).toBeLessThanOrEqual(largestBlockBytes);
      pieces.push(joined(found).all);
    }
    expect(Buffer.concat(pieces).equals(whole)).toBe(true);
    expect(read.mock.calls.length).toBeLessThanOrEqual(Math.ceil(whole.length / (largestBlockBytes - 4)));
    read.mockRestore();
  });

  test('is full while the disk is behind, and calls onRelief when it has caught up', async () => {
    let relieved = 0;
    const log = newLog(4_096, { onRelief: () => (relieved += 1) });
    expect(log.isFull).toBe(false);
    for (let round = 0; round < 90; round += 1) log.append('stdout', pattern(65_536, round));
    expect(log.isFull).toBe(true);
    expect(relieved).toBe(0);
    await log.finish();
    expect(log.isFull).toBe(false);
    expect(relieved).toBeGreaterThan(0);
  });

  test('without space on disk reports it once and keeps a prefix of the output', async () => {
    quota = new SpoolQuota(10_000);
    const failures: Error[] = [];
    const log = newLog(4_096, { onSpoolFailure: (error?: Error) => void (error && failures.push(error)) });
    for (let round = 0; round < 50; round += 1) log.append('stdout', pattern(1_000, round));
    await log.finish();
    log.append('stdout', pattern(1_000, 50));
    expect(failures.map(({ message }) => message)).toEqual([expect.stringContaining('used up')]);
    const whole = Buffer.concat(Array.from({ length: 50 }, (_, round) => pattern(1_000, round)));
    const kept = joined(await readAll(log, 0, 3_000)).all;
    expect(kept.length).toBeGreaterThan(8_000);
    expect(kept.equals(whole.subarray(0, kept.length))).toBe(true);
    await log.dispose();
    expect(quota.usedBytes).toBe(0);
  });

  test('that is disposed of during a flush leaves nothing on disk', async () => {
    const log = newLog(4_096);
    for (let round = 0; round < 20; round += 1) log.append('stderr', pattern(65_536, round));
    const finishing = log.finish();
    await Promise.all([log.dispose(), finishing]);
    expect(readdirSync(join(folder, 'spool'))).toEqual([]);
    expect(quota.usedBytes).toBe(0);
    log.append('stdout', pattern(10, 1));
    expect(log.stdoutBytes).toBe(0);
  });
});
