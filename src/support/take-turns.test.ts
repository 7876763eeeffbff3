import { expect, test } from 'vitest';
import { createTurns } from './take-turns.ts';

test('work that arrives at once is spread over turns of the event loop, in order', async () => {
  const takeTurn = createTurns(2);
  const done: string[] = [];
  const work = async (name: string) => {
    await takeTurn();
    done.push(name);
  };
  const other = async (turns: number) => {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    done.push(`turn ${turns}`);
  };
  const all = ['a', 'b', 'c', 'd', 'e'].map(work);
  await Promise.all([...all, other(1), other(2)]);
  expect(done).toEqual(['a', 'b', 'c', 'd', 'turn 1', 'e', 'turn 2']);
});

test('a single piece of work does not wait, nor does one in a later turn', async () => {
  const takeTurn = createTurns(1);
  expect(takeTurn()).toBeUndefined();
  expect(takeTurn()).toBeInstanceOf(Promise);
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(takeTurn()).toBeUndefined();
});
