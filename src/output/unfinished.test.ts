import { expect, test } from 'vitest';
import { unfinishedTail } from './unfinished.ts';

test.each([
  ['abc', 0],
  ['abc\u001b', 1],
  ['abc\u001b[', 2],
  ['abc\u001b[1;3', 5],
  ['abc\u001b[1;31m', 0],
  ['abc\u001b(', 2],
  ['abc\u001b(B', 0],
  ['abc\u001b]0;title', 9],
  ['abc\u001b]0;title\u001b', 10],
  ['abc\u001b]0;title\u0007', 0],
  ['abc\u001b]0;ti\ntle', 0],
  ['\u001b[1m\u001b', 1],
])('%j ends with %i bytes that are not finished', (text, expected) => {
  expect(unfinishedTail(Buffer.from(text))).toBe(expected);
});

test('half a character is unfinished', () => {
  expect(unfinishedTail(Buffer.from('a😀').subarray(0, 3))).toBe(2);
});
