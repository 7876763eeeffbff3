import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cutEnds, shareRoom } from './cut-ends.ts';

describe('splitting a limit', () => {
  test('T2: stdout is shortened first, down to a quarter of the limit', () => {
    expect(shareRoom(100, 20, 60)).toEqual([40, 20]);
    expect(shareRoom(10, 90, 60)).toEqual([10, 50]);
    expect(shareRoom(90, 90, 60)).toEqual([15, 45]);
    expect(shareRoom(90, 40, 60)).toEqual([20, 40]);
    expect(shareRoom(30, 30, 60)).toEqual([30, 30]);
  });

  test('no text gets more than it needs, and no part of the limit is unused', () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(99), fc.nat(99), (first, second, limit) => {
        const [one, two] = shareRoom(first, second, limit);
        expect(one).toBeLessThanOrEqual(first);
        expect(two).toBeLessThanOrEqual(second);
        expect(one + two).toBe(Math.min(limit, first + second));
      }),
    );
  });
});

describe('cutting two ends', () => {
  const chars = (count: number) => ({ chars: count, lines: Number.POSITIVE_INFINITY });
  const lines = (count: number) => Array.from({ length: count }, (_, i) => `line ${i}\n`).join('');

  test('cuts fall on line ends', () => {
    const cut = cutEnds({ head: lines(100), tail: '', joined: true }, chars(333));
    expect(cut.head).toMatch(/\n$/);
    expect(cut.tail).toMatch(/^line /);
    expect(cut.head.length + cut.tail.length).toBeGreaterThan(333 * 0.9);
  });

  test('a long line is cut exactly at the limit', () => {
    const cut = cutEnds({ head: 'a'.repeat(50), tail: `${'b'.repeat(49)}\n`, joined: false }, chars(40));
    expect(cut).toEqual({ head: 'a'.repeat(20), tail: `${'b'.repeat(19)}\n`, joined: false });
  });

  test('B6: without cuts at lines exactly the limit is kept', () => {
    const cut = cutEnds({ head: lines(100), tail: lines(100), joined: true }, chars(333), false);
    expect(cut.head.length + cut.tail.length).toBe(333);
  });

  test('an end shorter than its share leaves the rest to the other', () => {
    const cut = cutEnds({ head: 'a'.repeat(90), tail: 'b', joined: false }, chars(40), false);
    expect(cut).toEqual({ head: 'a'.repeat(39), tail: 'b', joined: false });
  });

  test('text that fits is not cut', () => {
    const ends = { head: 'ab', tail: 'cd', joined: true };
    expect(cutEnds(ends, chars(4))).toBe(ends);
  });

  test('T2: ends that were cut within a line lose the parts of lines', () => {
    const cut = cutEnds({ head: '1\n2\n3', tail: '8\n99\n100\n', joined: false }, chars(100));
    expect(cut).toEqual({ head: '1\n2\n', tail: '99\n100\n', joined: false });
  });

  test('T2: a limit on lines keeps half of them from each end', () => {
    const cut = cutEnds({ head: lines(10), tail: '', joined: true }, { chars: 1_000, lines: 4 });
    expect(cut).toEqual({ head: 'line 0\nline 1\n', tail: 'line 8\nline 9\n', joined: false });
  });

  test('T2: a long line between short ones does not leave half a line at the cut', () => {
    const cut = cutEnds({ head: `a\n${'b'.repeat(90)}\nc\n`, tail: '', joined: true }, chars(40));
    expect(cut).toEqual({ head: 'a\n', tail: 'c\n', joined: false });
  });
});
