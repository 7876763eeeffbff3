import { expect, test } from 'vitest';
import { createRateLimit } from './rate-limit.ts';

test('the limit applies per name and minute, and is refilled continuously', () => {
  let now = 0;
  const limit = createRateLimit(2, () => now);
  expect(['a', 'a', 'a', 'b'].map((name) => limit.take(name))).toEqual([0, 0, 30_000, 0]);
  now = 29_000;
  expect(limit.take('a')).toBe(1_000);
  now = 60_000;
  expect(limit.take('a')).toBe(0);
  now = 600_000;
  expect(['a', 'a', 'a'].map((name) => limit.take(name))).toEqual([0, 0, 30_000]);
});

test('H10: attempts during the wait do not prolong it', () => {
  let now = 0;
  const limit = createRateLimit(1, () => now);
  expect(limit.take('a')).toBe(0);
  for (now = 1_000; now < 60_000; now += 1_000) expect(limit.take('a')).toBe(60_000 - now);
  expect(limit.take('a')).toBe(0);
});

test('the number of remembered names is bounded', () => {
  const limit = createRateLimit(1, () => 0);
  for (let index = 0; index < 10_002; index += 1) limit.take(String(index));
  expect(limit.take('0')).toBe(0);
  expect(limit.take('10001')).toBeGreaterThan(0);
});
