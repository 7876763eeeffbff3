import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createHeadTail } from './head-tail.ts';

const text = fc.string({ unit: 'binary', maxLength: 30 });

function collect(pieces: readonly string[], maxChars: number) {
  const collector = createHeadTail(maxChars);
  for (const piece of pieces) collector.push(piece);
  return collector.end();
}

const isWellFormed = (part: string) => !/\p{Surrogate}/u.test(part);

describe('the head and tail of long text', () => {
  test('B6: half is kept from the beginning and half from the end', () => {
    expect(collect(['abcdef', 'ghij'], 4)).toEqual({
      head: 'ab',
      tail: 'ij',
      joined: false,
      totalChars: 10,
      omittedChars: 6,
      totalLines: 0,
    });
  });

  test('text that fits is kept completely, even with a surrogate pair in the middle', () => {
    expect(collect(['😀'], 2)).toMatchObject({ head: '', tail: '😀', joined: true, omittedChars: 0 });
  });

  test('for any pieces the ends are the real ends, the sizes add up and no surrogate pair is split', () => {
    fc.assert(
      fc.property(fc.array(text), fc.nat(60), (pieces, maxChars) => {
        const whole = pieces.join('');
        const { head, tail, joined, totalChars, omittedChars } = collect(pieces, maxChars);
        expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
        expect(head.length + tail.length).toBeLessThanOrEqual(maxChars);
        expect(head.length + tail.length + omittedChars).toBe(totalChars);
        expect(totalChars).toBe(whole.length);
        if (whole.length <= maxChars) expect(head + tail).toBe(whole);
        expect(joined).toBe(whole.length === head.length + tail.length);
        expect(isWellFormed(head) && isWellFormed(tail)).toBe(true);
        if (!joined) expect(maxChars - head.length - tail.length).toBeLessThanOrEqual(2);
      }),
    );
  });
});
