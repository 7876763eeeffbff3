import { expect, test } from 'vitest';
import { FairQueue } from './fair-queue.ts';

const { signal } = new AbortController();

test('a waiting call starts when a running one ends', async () => {
  const queue = new FairQueue({ running: 2, queued: 10 });
  const [first] = await Promise.all([queue.enter('a', signal), queue.enter('a', signal)]);
  const third = queue.enter('a', signal);
  expect(queue.counts()).toEqual({ running: 2, queued: 1 });
  first();
  first();
  (await third)();
  expect(queue.counts()).toEqual({ running: 1, queued: 0 });
});

test('owners are served in turn, however many calls one of them has', async () => {
  const queue = new FairQueue({ running: 1, queued: 10 });
  const leave = await queue.enter('busy', signal);
  const order: string[] = [];
  const call = async (name: string) => {
    const done = await queue.enter(name, signal);
    order.push(name);
    done();
  };
  const all = ['busy', 'busy', 'busy', 'other', 'third', 'other'].map(call);
  leave();
  await Promise.all(all);
  expect(order).toEqual(['busy', 'other', 'third', 'busy', 'other', 'busy']);
});

test('a full queue refuses, and a caller that disconnects frees its place', async () => {
  const queue = new FairQueue({ running: 1, queued: 1 });
  const leave = await queue.enter('a', signal);
  const gone = new AbortController();
  const waits = queue.enter('a', gone.signal);
  await expect(queue.enter('b', signal)).rejects.toMatchObject({ status: 429 });
  gone.abort();
  await expect(waits).rejects.toMatchObject({ status: 499 });
  await expect(queue.enter('b', gone.signal)).rejects.toMatchObject({ status: 499 });
  expect(queue.counts()).toEqual({ running: 1, queued: 0 });
  leave();
  (await queue.enter('b', signal))();
});

test('H2: an owner cannot keep others out by filling the queue', async () => {
  const queue = new FairQueue({ running: 1, queued: 3 });
  const leave = await queue.enter('busy', signal);
  const filling = ['busy', 'busy', 'busy'].map((name) => queue.enter(name, signal));
  const [first, second] = [queue.enter('other', signal), queue.enter('other', signal)];
  await expect(filling[2]).rejects.toMatchObject({ status: 429 });
  // `busy` has two waiting calls and `other` one: neither may displace another.
  await expect(second).rejects.toMatchObject({ status: 429 });
  await expect(queue.enter('busy', signal)).rejects.toMatchObject({ status: 429 });
  expect(queue.counts()).toEqual({ running: 1, queued: 3 });
  leave();
  for (const call of [filling[0], first, filling[1]]) (await call)?.();
  expect(queue.counts()).toEqual({ running: 0, queued: 0 });
});
