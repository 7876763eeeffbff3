import { expect, test } from 'vitest';
import { drain } from './drain.ts';

test('open calls get no more than the time limit, also if the event loop is busy', async () => {
  const block = () => {
    const until = performance.now() + 60;
    while (performance.now() < until);
  };
  const start = performance.now();
  expect(
    await drain(() => {
      block();
      return 2;
    }, 300),
  ).toBe(2);
  // Fifteen steps of 20 ms would take more than a second.
  expect(performance.now() - start).toBeLessThan(800);
});

test('the wait is over when the last call has ended', async () => {
  let open = 3;
  expect(await drain(() => open--, 60_000)).toBeLessThanOrEqual(0);
});
