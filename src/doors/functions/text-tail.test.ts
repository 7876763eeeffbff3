import { expect, it } from 'vitest';
import { createTextTail } from './text-tail.ts';

it('B13: drops the oldest part of a long text, and counts all of it', () => {
  const tail = createTextTail();
  tail.append('abc');
  tail.append('def');
  expect([tail.text(), tail.count(), tail.since(4), tail.since(6)]).toEqual(['abcdef', 6, 'ef', '']);
  const megabyte = 'x'.repeat(1_048_576);
  for (let times = 0; times < 5; times += 1) tail.append(megabyte);
  tail.append('end');
  expect(tail.count()).toBe(6 + 5 * 1_048_576 + 3);
  expect(tail.text().length).toBeLessThanOrEqual(2 * 1_048_576);
  expect(tail.since(tail.count() - 4)).toBe('xend');
  expect(tail.since(0)).toBe(tail.text());
});
