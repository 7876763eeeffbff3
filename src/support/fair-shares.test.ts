import { expect, test } from 'vitest';
import { FairShares } from './fair-shares.ts';

const [one, other] = [
  { key: 'one', of: 2 },
  { key: 'other', of: 2 },
];

/** Starts as much as a caller may, and returns how much that was. */
function fill(shares: FairShares, share: typeof one | undefined): number {
  let count = 0;
  for (; shares.hasPlace(share); count += 1) shares.start(share);
  return count;
}

test.each([
  [9, 4],
  [8, 3],
  [2, 1],
])('of %i places each of two shares gets %i, and the owner at least one', (max, each) => {
  const shares = new FairShares(max);
  expect(fill(shares, one)).toBe(each);
  if (max > 2) expect(fill(shares, other)).toBe(each);
  expect(fill(shares, undefined)).toBeGreaterThanOrEqual(1);
});

test('the owner runs one command even if shares use the only place', () => {
  const shares = new FairShares(1);
  expect(fill(shares, one)).toBe(1);
  expect(fill(shares, undefined)).toBe(1);
  expect(shares.count()).toBe(2);
});

test('a place is free again when something has ended, and the end counts once', () => {
  const shares = new FairShares(3);
  const end = shares.start(one);
  expect(shares.hasPlace(one)).toBe(false);
  end();
  end();
  expect(shares.count()).toBe(0);
  expect(shares.hasPlace(one)).toBe(true);
});
