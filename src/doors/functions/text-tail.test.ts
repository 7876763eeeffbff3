import { expect, it } from 'vitest';
import { createTextTail, tailChars } from './text-tail.ts';

it('B13: drops the oldest part of a long text', () => {
  const tail = createTextTail();
  tail.append('abc');
  tail.append('def');
  expect(tail.text()).toBe('abcdef');
  for (let times = 0; times < 5; times += 1) tail.append('x'.repeat(tailChars));
  tail.append('end');
  expect(tail.text().length).toBeLessThanOrEqual(2 * tailChars);
  expect(tail.text().slice(-4)).toBe('xend');
  tail.restart('new');
  expect(tail.text()).toBe('new');
});
