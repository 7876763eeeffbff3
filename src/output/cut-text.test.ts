import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutEnds, splitLimit } from './shape.ts';

describe('splitting a limit', () => {
  test('a short text leaves its unused share to the other', () => {
    expect(splitLimit(100, 20, 60)).toEqual([40, 20]);
    expect(splitLimit(10, 90, 60)).toEqual([10, 50]);
    expect(splitLimit(90, 90, 61)).toEqual([31, 30]);
    expect(splitLimit(30, 30, 60)).toEqual([30, 30]);
  });

  test('no text gets more than it needs, and no part of the limit is unused', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(99), fc.nat(99), (first, second, limit) => {
        const [one, two] = splitLimit(first, second, limit);
        expect(one).toBeLessThanOrEqual(first);
        expect(two).toBeLessThanOrEqual(second);
        expect(one + two).toBe(Math.min(limit, first + second));
      }),
    );
  });
});

describe('cutting two ends', () => {
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}\n`).join('');

  test('cuts fall on line ends if that loses little', () => {
    const cut = cutEnds({ head: lines(100), tail: '', joined: true }, 333);
    expect(cut.head).toMatch(/\n$/);
    expect(cut.tail).toMatch(/^line /);
    expect(cut.head.length + cut.tail.length).toBeGreaterThan(333 * 0.9);
  });

  test('a long line is cut exactly at the limit', () => {
    const cut = cutEnds({ head: 'a'.repeat(50), tail: `${'b'.repeat(49)}\n`, joined: false }, 40);
    expect(cut).toEqual({ head: 'a'.repeat(20), tail: `${'b'.repeat(19)}\n`, joined: false });
  });

  test('B6: without cuts at lines exactly the limit is kept', () => {
    const cut = cutEnds({ head: lines(100), tail: lines(100), joined: true }, 333, false);
    expect(cut.head.length + cut.tail.length).toBe(333);
  });

  test('an end shorter than its share leaves the rest to the other', () => {
    const cut = cutEnds({ head: 'a'.repeat(90), tail: 'b', joined: false }, 40, false);
    expect(cut).toEqual({ head: 'a'.repeat(39), tail: 'b', joined: false });
  });

  test('text that fits is not cut', () => {
    const ends = { head: 'ab', tail: 'cd', joined: true };
    expect(cutEnds(ends, 4)).toBe(ends);
  });
});
