import { expect, test } from 'vitest';
import { randomHex } from './ids.ts';

test('has the requested length and never repeats, even where the pool is refilled', () => {
  const made = Array.from({ length: 3_000 }, () => randomHex(6));
  expect(made.every((text) => /^[0-9a-f]{12}$/.test(text))).toBe(true);
  expect(new Set(made).size).toBe(made.length);
  expect(randomHex(32)).toMatch(/^[0-9a-f]{64}$/);
});
