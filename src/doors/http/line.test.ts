import { expect, test } from 'vitest';
import { createLine } from './line.ts';

const stay = new AbortController().signal;

test('so many are served at once, and the next when one leaves', async () => {
  const line = createLine({ running: 2, queued: 10 });
  const [first] = await Promise.all([line.enter('a', stay), line.enter('a', stay)]);
  const third = line.enter('a', stay);
  expect(line.counts()).toEqual({ running: 2, queued: 1 });
  first();
  first();
  (await third)();
  expect(line.counts()).toEqual({ running: 1, queued: 0 });
});

test('callers are served in turn, however many calls one of them has', async () => {
  const line = createLine({ running: 1, queued: 10 });
  const leave = await line.enter('busy', stay);
  const order: string[] = [];
  const call = async (name: string) => {
    const done = await line.enter(name, stay);
    order.push(name);
    done();
  };
  const all = ['busy', 'busy', 'busy', 'other', 'third', 'other'].map(call);
  leave();
  await Promise.all(all);
  expect(order).toEqual(['busy', 'other', 'third', 'busy', 'other', 'busy']);
});

test('a full line refuses, and whoever has gone takes no place', async () => {
  const line = createLine({ running: 1, queued: 1 });
  const leave = await line.enter('a', stay);
  const gone = new AbortController();
  const waits = line.enter('a', gone.signal);
  await expect(line.enter('b', stay)).rejects.toMatchObject({ status: 429 });
  gone.abort();
  await expect(waits).rejects.toMatchObject({ status: 499 });
  await expect(line.enter('b', gone.signal)).rejects.toMatchObject({ status: 499 });
  expect(line.counts()).toEqual({ running: 1, queued: 0 });
  leave();
  (await line.enter('b', stay))();
});

test('H2: a caller cannot keep others out of the line by filling it', async () => {
  const line = createLine({ running: 1, queued: 3 });
  const leave = await line.enter('busy', stay);
  const filling = ['busy', 'busy', 'busy'].map((name) => line.enter(name, stay));
  const [first, second] = [line.enter('other', stay), line.enter('other', stay)];
  await expect(filling[2]).rejects.toMatchObject({ status: 429 });
  // Both have as many places as they can claim.
  await expect(second).rejects.toMatchObject({ status: 429 });
  await expect(line.enter('busy', stay)).rejects.toMatchObject({ status: 429 });
  expect(line.counts()).toEqual({ running: 1, queued: 3 });
  leave();
  for (const call of [filling[0], first, filling[1]]) (await call)?.();
  expect(line.counts()).toEqual({ running: 0, queued: 0 });
});
