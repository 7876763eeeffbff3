import { expect, test } from 'vitest';
// @ts-expect-error: applets are plain JavaScript.
import { keys, toSequence, withModifiers } from '../../examples/applets/terminal/keys.js';

interface Key {
  readonly name: string;
}
const off = { ctrl: false, alt: false, application: false };
const press = (name: string, more: Partial<typeof off> = {}): string =>
  toSequence(
    (keys as readonly Key[]).find((key) => key.name === name),
    { ...off, ...more },
  );

test.each([
  ['Esc', {}, '\x1b'],
  ['Tab', {}, '\t'],
  ['↑', {}, '\x1b[A'],
  ['↑', { application: true }, '\x1bOA'],
  ['→', { ctrl: true, application: true }, '\x1b[1;5C'],
  ['←', { alt: true }, '\x1b[1;3D'],
  ['End', {}, '\x1b[F'],
  ['PgUp', {}, '\x1b[5~'],
  ['PgDn', { ctrl: true, alt: true }, '\x1b[6;7~'],
  ['/', { ctrl: true }, '/'],
  ['|', { alt: true }, '\x1b|'],
])('the key %s with %j sends what a keyboard sends', (name, more, expected) => {
  expect(press(name, more)).toBe(expected);
});

test.each([
  ['c', '\x03'],
  ['D', '\x04'],
  ['[', '\x1b'],
  ['\\', '\x1c'],
  [' ', '\0'],
  ['?', '\x7f'],
  ['1', '1'],
  ['é', 'é'],
])('Ctrl and %j is %j', (typed, expected) => {
  expect(withModifiers(typed, { ctrl: true, alt: false })).toBe(expected);
});
