import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeGlob, globMatches, globMatchesAnything } from './glob.ts';

test.each([
  ['*', 'usr', true],
  ['u*', 'usr', true],
  ['*s*', 'usr', true],
  ['?s?', 'usr', true],
  ['?s', 'usr', false],
  ['[a-u]sr', 'usr', true],
  ['[!a-t]sr', 'usr', true],
  ['[^u]sr', 'usr', false],
  ['[us]sr', 'usr', true],
  ['[[:alpha:]]sr', 'usr', true],
  ['u\\*', 'u*', true],
  ['u\\*', 'usr', false],
  ['[', '[', true],
  ['', '', true],
  ['**', '', true],
  ['a*b*c', 'aXbYbZc', true],
  ['a*b*c', 'aXbYbZ', false],
])('%s against %s is %s', (pattern, text, matches) => {
  expect(globMatches(pattern, text)).toBe(matches);
});

test('an escaped text matches itself', () => {
  fc.assert(fc.property(fc.string(), (text) => globMatches(escapeGlob(text), text)));
});

test('a pattern with many stars is matched in bounded time', () => {
  expect(globMatches(`${'a*'.repeat(200)}b`, 'a'.repeat(2_000))).toBe(false);
});

test('only patterns without a literal name match anything', () => {
  expect(['*', '.*', '?*', '[!.]*', '.[!.]*'].every(globMatchesAnything)).toBe(true);
  expect(['a*', '*.txt', 'x', '\\*', '..'].some(globMatchesAnything)).toBe(false);
});
