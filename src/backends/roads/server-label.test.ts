import { expect, test } from 'vitest';
import { isAbandoned, serverLabel } from './server-label.ts';

const [boot, namespace, pid, startTime] = serverLabel().split(' ') as [string, string, string, string];
const label = (...parts: readonly string[]) => parts.join(' ');

test.each([
  ['this process', serverLabel(), false],
  ['a process that has ended', label(boot, namespace, '4194303', startTime), true],
  ['an earlier process with the same pid', label(boot, namespace, pid, '1'), true],
  ['a process of another pid namespace', label(boot, 'pid:[1]', '4194303', startTime), false],
  ['a process of another machine or boot', label('other', namespace, '4194303', startTime), false],
  ['a label of somebody else', 'yes', false],
  ['a pid that is none', label(boot, namespace, '-1', startTime), false],
])('%s is abandoned or not', (_, text, expected) => {
  expect(isAbandoned(text)).toBe(expected);
});
