import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { createDeferred } from '../../support/timing.ts';
import type { Keeper } from './follow-keeper.ts';
import type { KeeperEnd } from './keeper-life.ts';
import { KeeperPool } from './keeper-pool.ts';

interface FakeKeeper extends Pick<Keeper, 'ready' | 'ended' | 'gone'> {
  isDiscarded: boolean;
  discard(): Promise<void>;
  finish(): void;
}

let pool: KeeperPool;
let started: FakeKeeper[] = [];
const open = (size: number, isReady = true, calmMs?: number) => {
  started = [];
  pool = new KeeperPool(
    size,
    async () => {
      const ended = createDeferred<KeeperEnd>();
      const gone = createDeferred<void>();
      const keeper: FakeKeeper = {
        ready: Promise.resolve(isReady),
        ended: ended.promise,
        gone: gone.promise,
        isDiscarded: false,
        async discard() {
          keeper.isDiscarded = true;
          gone.resolve();
        },
        finish() {
          ended.resolve({ exit: { code: 0, signal: null }, processes: 2 });
          gone.resolve();
        },
      };
      started.push(keeper);
      return keeper as unknown as Keeper;
    },
    undefined,
    calmMs,
  );
};
afterEach(() => pool.close());

test('a keeper that was probed serves the first command', async () => {
  open(1);
  expect(await pool.probe()).toBe(true);
  expect(await pool.take()).toBe(started[0]);
});

test('a keeper that does not become ready is discarded, and so is one that a pool of size 0 probed', async () => {
  open(1, false);
  expect(await pool.probe()).toBe(false);
  expect(started.map(({ isDiscarded }) => isDiscarded)).toEqual([true]);
  open(0);
  expect(await pool.probe()).toBe(true);
  expect(started.map(({ isDiscarded }) => isDiscarded)).toEqual([true]);
});

test('the pool is refilled during a long command, and after a short one', async () => {
  open(2);
  await pool.take();
  await expect.poll(() => started.length).toBe(3);
  open(1);
  await pool.take();
  started[0]?.finish();
  await expect.poll(() => started.length).toBe(2);
});

test('a waiting keeper that dies is not returned', async () => {
  open(1);
  await pool.probe();
  started[0]?.finish();
  await new Promise((resolve) => setImmediate(resolve));
  expect(await pool.take()).toBe(started[1]);
});

test('closing discards the waiting keepers and starts no more', async () => {
  open(2);
  await pool.take();
  await expect.poll(() => started.length).toBe(3);
  await pool.close();
  expect(started.map(({ isDiscarded }) => isDiscarded)).toEqual([false, true, true]);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(started).toHaveLength(3);
});

test('the pool grows while commands find it empty, to a limit, and shrinks after', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  open(2, true, 100);
  for (let count = 0; count < 30; count += 1) await pool.take();
  await vi.advanceTimersByTimeAsync(50);
  expect(started).toHaveLength(30 + 8);
  expect(started.filter(({ isDiscarded }) => isDiscarded)).toEqual([]);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(started).toHaveLength(30 + 8);
  expect(started.filter(({ isDiscarded }) => isDiscarded)).toHaveLength(6);
});

test('a pool of size 0 does not grow', async () => {
  open(0);
  for (let count = 0; count < 5; count += 1) await pool.take();
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(started).toHaveLength(5);
});
