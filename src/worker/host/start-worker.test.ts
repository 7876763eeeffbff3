import { expect, test } from 'vitest';
import { runChild } from '../../../tests/support/child.ts';

test('a worker that cannot be spawned for lack of descriptors is named as such', async () => {
  expect(await runChild('worker-at-limit', { ulimits: ['-n 64'] })).toEqual({
    error: expect.stringContaining('The worker that keeps commands running could not be started'),
    workers: 0,
  });
});
