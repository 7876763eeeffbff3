import { expect, test } from 'vitest';
import { findSpacedWords, quoteSpacedPaths } from './spaced-paths.ts';

const quoted = (script: string, ...existing: string[]) =>
  quoteSpacedPaths(script, findSpacedWords(script), new Set(existing));

test.each([
  ['cat my file.txt', ['my file.txt'], "cat 'my file.txt'"],
  ['cd My Documents/new dir && ls', ['My Documents/new dir'], "cd 'My Documents/new dir' && ls"],
  ['cat -n a b c | head', ['a b c'], "cat -n 'a b c' | head"],
  ['if true; then cat x y; fi', ['x y'], "if true; then cat 'x y'; fi"],
  ['cat p q r s', ['p q', 'r s'], "cat 'p q' 'r s'"],
])('B8: %s with %j becomes %s', (script, existing, expected) => {
  expect(quoted(script, ...existing)).toBe(expected);
});

test.each([
  ['one of the words is an existing path', 'cat my file', ['my file', 'file']],
  ['no such path exists', 'cat my file', []],
  ['there are two spaces', 'cat my  file', ['my file']],
  ['a word is quoted', 'cat my "file"', ['my file']],
  ['a word is an option', 'cat -n file', ['-n file']],
  ['the program deletes', 'rm my file', ['my file']],
  ['the program overwrites', 'cp my file', ['my file']],
  ['a wrapper may start a program that deletes', 'sudo rm my file', ['my file', 'rm my file']],
  ['a word is expanded', 'cat $x file', ['$x file']],
  ['it is inside a word', 'cat "$(cat my file)"', ['my file']],
  ['it does not parse', 'cat my file "', ['my file']],
])('B8: the script is left unchanged when %s', (_, script, existing) => {
  expect(quoted(script, ...existing)).toBe(script);
});
