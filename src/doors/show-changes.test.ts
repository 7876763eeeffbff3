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

test('leaves out unchanged lines between two changes', () => {
  expect(showChanges('a\ngit\nb\nc\n', 'a\nb\nc\npolicy\n')).toEqual(['  - 2: git', '  + 4: policy']);
  expect(showChanges('1\nx\n2\ny\n3\n', '1\nX\n2\nY\n3\n')).toEqual([
    '  - 2: x',
    '  + 2: X',
    '  - 4: y',
    '  + 4: Y',
  ]);
});

test('shows every line of two texts that are too long to compare', () => {
  const many = Array.from({ length: 3_000 }, (_, index) => `line ${index}`);
  const changes = showChanges(['a', ...many, 'b'].join('\n'), ['A', ...many, 'B'].join('\n'));
  expect(changes).toHaveLength(2 * 3_002);
});
