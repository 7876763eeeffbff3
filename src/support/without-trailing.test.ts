import { expect, test } from 'vitest';
import { withoutTrailing } from './without-trailing.ts';

test('removes the character from the end only', () => {
  expect(withoutTrailing('\na\n\n', '\n')).toBe('\na');
  expect(withoutTrailing('///', '/')).toBe('');
  expect(withoutTrailing('a', '/')).toBe('a');
});
