import { expect, test } from 'vitest';
import { chooseOldFiles } from './old-files.ts';

const dayMs = 86_400_000;
const now = 1_000 * dayMs;
const chosen = (ages: readonly number[], keepDays: number, nowMs = now) =>
  chooseOldFiles(
    ages.map((age) => ({ touchedMs: now - age * dayMs, age })),
    keepDays * dayMs,
    nowMs,
  ).map(({ age }) => age);

test('chooses the oldest day of what is too old', () => {
  expect(chosen([40, 39.5, 38, 3, 1, 0], 30)).toEqual([40, 39.5]);
  expect(chosen([38, 3, 1, 0], 30)).toEqual([38]);
  expect(chosen([29, 1, 0], 30)).toEqual([]);
});

test('a clock that jumped ahead makes nothing old until a day has passed on it', () => {
  expect(chosen([3, 2, 1, 0], 30, now + 500 * dayMs)).toEqual([]);
  expect(chosen([3, 2, 1, 0, -500], 30, now + 500 * dayMs)).toEqual([]);
  expect(chosen([3, 2, 1, 0, -500], 30, now + 501 * dayMs)).toEqual([3]);
});

test('chooses nothing of a folder that is empty or new', () => {
  expect(chosen([], 30)).toEqual([]);
  expect(chosen([0], 30)).toEqual([]);
});
