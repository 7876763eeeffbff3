import { describe, expect, test } from 'vitest';
import { fromLineStart, untilLineEnd } from './resync.ts';

const from = (text: string | Buffer) => Buffer.from(fromLineStart(Buffer.from(text))).toString();
const until = (text: string | Buffer) => Buffer.from(untilLineEnd(Buffer.from(text))).toString();

describe('the end of a stream', () => {
  test('starts after the first line end or return', () => {
    expect(from('1mhalf\nwhole\nlines\n')).toBe('whole\nlines\n');
    expect(from('9% of\r20% of the whole')).toBe('20% of the whole');
  });

  test('starts after a blank if it is one long line', () => {
    expect(from('[31mred some words and more of them')).toBe('some words and more of them');
  });

  test('starts at a character boundary if there is no blank either', () => {
    const bytes = Buffer.from('漢'.repeat(400)).subarray(1);
    expect(from(bytes)).toMatch(/^漢{300,}$/);
  });

  test('is not cut at a line end in its second half', () => {
    expect(from(`x ${'y'.repeat(1000)}\n`)).toBe(`${'y'.repeat(1000)}\n`);
  });
});

describe('the beginning of a stream', () => {
  test('ends with its last whole line', () => {
    expect(until('one\ntwo\nthr')).toBe('one\ntwo\n');
  });

  test('ends at a character boundary if its last line is long', () => {
    expect(until(Buffer.from('a\nlong enough 漢').subarray(0, -1))).toBe('a\nlong enough ');
  });
});
