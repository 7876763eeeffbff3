import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import type { CommandEvent } from './announcer.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

test('T9: a listener is notified about its owner’s commands from start to end', async () => {
  const [mine, others]: CommandEvent[][] = [[], []];
  const stop = here.engine.listen('tester', (event) => mine?.push(event));
  here.engine.listen('other', (event) => others?.push(event));
  const id = await here.start('echo one; sleep 0.7; echo two');
  // The last line and the end may arrive as one event.
  await expect.poll(() => mine?.length, { timeout: 10_000 }).toBeGreaterThanOrEqual(3);
  expect(mine?.[0]).toEqual({ kind: 'began', id });
  expect(new Set(mine?.map((event) => event.id))).toEqual(new Set([id]));
  expect(others).toEqual([]);
  stop();
  const count = mine?.length;
  await here.start('echo three');
  await here.start('echo four', {}, { owner: 'silent' });
  await here.engine.read(
    id,
    { waitMs: 0, maxChars: 9, keep: 'ends', view: 'clean', howToReadOn: () => '' },
    { caller: { door: 'cli', client: 'test' }, owner: 'tester' },
  );
  expect(mine).toHaveLength(count ?? 0);
});
