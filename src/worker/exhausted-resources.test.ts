import { expect, test } from 'vitest';
import { runChild } from '../../tests/support/child.ts';
import { processesWith } from '../../tests/support/processes.ts';

test('E3: if the spool cannot be written, the command is killed with a reason, and the server keeps running', async () => {
  const found = await runChild('full-disk', { ulimits: ['-f 200'] });
  expect(found).toMatchObject({
    status: 'killed',
    cause: 'spool_failed',
    detail: expect.stringMatching(/EFBIG|too large/),
    readable: true,
    first: 'y',
    after: 'still here\n',
  });
  expect((found as { durationMs: number }).durationMs).toBeLessThan(10_000);
});

test('E3: with 200 MiB on one line memory stays flat, and all of it is read back', async () => {
  const bytes = 209_715_200;
  const found = await runChild('flat-memory', { args: [String(bytes)] });
  expect(found).toMatchObject({ status: 'completed', wrote: bytes, readBack: bytes });
  expect((found as { grewMb: number }).grewMb).toBeLessThan(60);
});

test('E2: without free descriptors commands are refused, running ones still end, and nothing leaks', async () => {
  const mark = `mark${Math.random()}`;
  const found = await runChild('few-descriptors', { ulimits: ['-n 64'], args: [mark] });
  expect(found).toMatchObject({
    other: [],
    starved: ['completed', 'timeout'],
    leaked: 0,
    after: 'works\n',
  });
  const { completed, timeout, unavailable } = found as Record<string, number>;
  for (const count of [completed, timeout, unavailable]) expect(count).toBeGreaterThan(0);
  expect(processesWith(mark)).toEqual([]);
});

test('a command that cannot fork fails with resources_unavailable and leaves nothing behind', async () => {
  const found = await runChild('few-processes');
  expect(found).toEqual({ code: 'resources_unavailable', leaked: 0, after: 'works\n' });
});
