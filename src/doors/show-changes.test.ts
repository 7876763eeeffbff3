import { expect, test } from 'vitest';
import { showChanges } from './show-changes.ts';

test('shows the changed lines with their numbers, and nothing else', () => {
  expect(showChanges('a: 1\nb: 2\nc: 3\n', 'a: 1\nb: [2, 3]\nc: 3\n')).toEqual([
    '  - 2: b: 2',
    '  + 2: b: [2, 3]',
  ]);
  expect(showChanges('', 'a: 1\n')).toEqual(['  + 1: a: 1']);
  expect(showChanges('a: 1\r\n', 'a: 1\r\nb: 2\r\n')).toEqual(['  + 2: b: 2']);
  expect(showChanges('x\nx\n', 'x\n')).toEqual(['  - 2: x']);
  expect(showChanges('same\n', 'same\n')).toEqual([]);
  expect(showChanges('a: 1\nb: 2\nc: 3\n', 'a: 0\nb: 2\nc: 3\nd: 4\n')).toEqual([
    '  - 1: a: 1',
    '  + 1: a: 0',
    '  + 4: d: 4',
  ]);
});
