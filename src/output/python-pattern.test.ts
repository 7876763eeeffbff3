import { describe, expect, test } from 'vitest';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { toExpression } from './python-pattern.ts';

const matches = (pattern: string, text: string) => {
  const { source, flags } = toExpression(pattern);
  return new RegExp(source, flags).test(text);
};

describe('B11: a pattern', () => {
  test.each([
    ['(?i)error', 'An ERROR', 'fine'],
    ['(?P<level>WARN|ERROR) .*(?P=level)', 'WARN x WARN', 'WARN x ERROR'],
    ['(?x) err \\s \\d+  # a number', 'err 12', 'err'],
    ['(?im)^fail', 'ok\nFAIL', 'no fail'],
    ['(?#comment)abc', 'abc', 'ab'],
    ['\\Aabc\\Z', 'abc', 'abc\nx'],
    ['^a{,2}$', 'aa', 'aaa'],
    ['^[]a]+$', ']a', 'b'],
    ['^[^]a]+$', 'bc', 'b]'],
    ['[(?P<x>]', 'P', 'z'],
    ['\\(?P<x>', 'P<x>', 'Px'],
  ])('of Python: %s', (pattern, yes, no) => {
    expect([matches(pattern, yes), matches(pattern, no)]).toEqual([true, false]);
  });

  test.each([
    ['(?<level>WARN|ERROR) \\k<level>', 'WARN WARN', 'WARN ERROR'],
    ['a # b', 'a # b', 'ab'],
    ['^(?!x)\\w+$', 'abc', 'xbc'],
    ['\\[\\]', '[]', '['],
    ['[\\]]', ']', '['],
  ])('of JavaScript: %s', (pattern, yes, no) => {
    expect([matches(pattern, yes), matches(pattern, no)]).toEqual([true, false]);
    expect(toExpression(pattern).source).toBe(pattern);
  });

  test('that is invalid stays invalid', () => {
    for (const pattern of ['[invalid(regex', '(', 'a{2,1}', '(?P<x', '(?i)(']) {
      const { source, flags } = toExpression(pattern);
      expect(() => new RegExp(source, flags)).toThrow();
    }
  });

  test('takes linear time', () => {
    for (const text of ['[', '(?#', '(?P<', '#', ' ', '\\', '{,1'])
      expect(cpuMsOf(() => toExpression(`(?x)${text.repeat(500)}`))).toBeLessThan(500);
  });
});
