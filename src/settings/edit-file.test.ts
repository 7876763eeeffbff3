import { describe, expect, it } from 'vitest';
import { addItems, readValues, removeItems, removeKey, setValue, setValues } from './edit-file.ts';

const isNamed = (name: string) => (item: unknown) => item === name;

describe('setValue', () => {
  it('adds a key at the end, also after a comment and without a final newline', () => {
    expect(setValue('', 'preset', 'dev')).toBe('preset: dev\n');
    expect(setValue('# mine', 'preset', 'dev')).toBe('# mine\npreset: dev\n');
    expect(setValue('a: 1\r\n', 'b', ['x', '*'])).toBe('a: 1\r\nb: [x, "*"]\r\n');
  });

  it('replaces only the value, and keeps the comment after it', () => {
    expect(setValue('# top\npreset: git # small\nsandbox: off\n', 'preset', 'dev')).toBe(
      '# top\npreset: dev # small\nsandbox: off\n',
    );
    expect(setValue('preset:\nsandbox: off\n', 'preset', 'dev')).toBe('preset: dev\nsandbox: off\n');
    expect(setValue('a: "off"\n', 'a', 'true')).toBe('a: "true"\n');
  });

  it('replaces a block list by one line', () => {
    expect(setValue('a:\n  - x\n  - y\nb: 1\n', 'a', ['z'])).toBe('a: [z]\nb: 1\n');
  });

  it('leaves a file alone that has the value', () => {
    const text = 'a:   [ x,y ]  # two\n';
    expect(setValue(text, 'a', ['x', 'y'])).toBe(text);
  });

  it('refuses a file that it cannot parse, and one whose form it does not know', () => {
    expect(() => setValue('a: [\n', 'b', 1)).toThrow('The settings file cannot be edited');
    expect(() => setValue('{ a: 1 }\n', 'b', 1)).toThrow('The settings file cannot be edited');
    expect(() => setValue('a: 1\n...\n', 'b', 1)).toThrow('The settings file cannot be edited');
  });
});

describe('addItems', () => {
  it('adds to a list on one line, to a list of lines, to text, and as a new key', () => {
    expect(addItems('a: [x] # one\nb: 1\n', 'a', ['y', 'z'])).toBe('a: [x, y, z] # one\nb: 1\n');
    expect(addItems('a:\n  - x # one\n\n# next\nb: 1\n', 'a', ['y'])).toBe(
      'a:\n  - x # one\n  - y\n\n# next\nb: 1\n',
    );
    expect(addItems('a:\n- x', 'a', ['y'])).toBe('a:\n- x\n- y');
    expect(addItems('a: x,y\n', 'a', ['z'])).toBe('a: [x, y, z]\n');
    expect(addItems('b: 1\n', 'a', ['z'])).toBe('b: 1\na: [z]\n');
    expect(addItems('a: []\n', 'a', ['z'])).toBe('a: [z]\n');
  });

  it('adds an object as one line of a list', () => {
    const rule = { program: 'git', args: undefined, reason: 'It is slow: no.', cwd: '/home/a b' };
    const line = '- { program: git, reason: "It is slow: no.", cwd: /home/a b }\n';
    expect(addItems('', 'policy', [rule])).toBe(`policy:\n  ${line}`);
    expect(addItems('policy:\n  - program: npm\n    args:\n      - x\nb: 1\n', 'policy', [rule])).toBe(
      `policy:\n  - program: npm\n    args:\n      - x\n  ${line}b: 1\n`,
    );
  });
});

describe('removeItems', () => {
  it('removes from each form of a list', () => {
    expect(removeItems('a: [x, y, z] # three\n', 'a', isNamed('y'))).toBe('a: [x, z] # three\n');
    expect(removeItems('a:\n  - x\n  # why\n  - y # two\n  - z\nb: 1\n', 'a', isNamed('y'))).toBe(
      'a:\n  - x\n  # why\n  - z\nb: 1\n',
    );
    expect(removeItems('a:\n  - x\nb: 1\n', 'a', isNamed('x'))).toBe('a: []\nb: 1\n');
    expect(removeItems('b: 1\n', 'a', isNamed('x'))).toBe('b: 1\n');
  });

  it('removes an object of several lines', () => {
    const text =
      'policy:\n  - program: git\n    reason: >\n      long\n      text\n  - program: npm\n# end\n';
    const isGit = (item: unknown) => (item as { program: string }).program === 'git';
    expect(removeItems(text, 'policy', isGit)).toBe('policy:\n  - program: npm\n# end\n');
  });
});

it('removeKey removes a key with all lines of its value', () => {
  expect(removeKey('a: 1 # one\nb:\n  - x\n  - y\nc: 2\n', 'b')).toBe('a: 1 # one\nc: 2\n');
  expect(removeKey('a: 1\nb:', 'b')).toBe('a: 1\n');
  expect(removeKey('a: 1\n', 'b')).toBe('a: 1\n');
});

it('setValues sets, removes and extends', () => {
  const text = 'preset: git\nhosts:\n  - a # one\n';
  expect(setValues(text, { preset: undefined, hosts: ['a', 'b'], sandbox: 'off' })).toBe(
    'hosts:\n  - a # one\n  - b\nsandbox: off\n',
  );
});

it('readValues returns the values of a file, and nothing for an empty one', () => {
  expect(readValues('a: [x]\n')).toEqual({ a: ['x'] });
  expect(readValues('# nothing\n')).toEqual({});
});
