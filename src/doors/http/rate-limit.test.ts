import { expect, test } from 'vitest';
import { createRateLimit } from './rate-limit.ts';

test('so many a minute for each name, refilled steadily', () => {
  let now = 0;
  const limit = createRateLimit(2, () => now);
  expect(['a', 'a', 'a', 'b'].map((name) => limit.take(name))).toEqual([true, true, false, true]);
  now = 29_000;
  expect(limit.take('a')).toBe(false);
  now = 60_000;
  expect(limit.take('a')).toBe(true);
  now = 600_000;
  expect(['a', 'a', 'a'].map((name) => limit.take(name))).toEqual([true, true, false]);
});

test('ever new names do not fill the memory', () => {
  const limit = createRateLimit(1, () => 0);
  for (let index = 0; index < 10_002; index += 1) limit.take(String(index));
  expect(limit.take('0')).toBe(true);
  expect(limit.take('10001')).toBe(false);
});
