import { expect, test } from 'vitest';
import { toKeyStrokes } from './to-keys.ts';

const plain = { hasTerminal: true, applicationKeys: false };
const press = (name: string, mode = plain) => toKeyStrokes([name], mode)[0];

test.each([
  ['enter', '\r'],
  ['Return', '\r'],
  ['Escape', '\x1b'],
  ['Ctrl-C', '\x03'],
  ['ctrl+d', '\x04'],
  ['C-x', '\x18'],
  ['ctrl-[', '\x1b'],
  ['up', '\x1b[A'],
  ['end', '\x1b[F'],
  ['alt-b', '\x1bb'],
  ['alt-enter', '\x1b\r'],
  ['f1', '\x1bOP'],
  ['shift-tab', '\x1b[Z'],
])('%s sends the bytes of that key', (name, text) => {
  expect(press(name)).toEqual({ does: 'write', text });
});

test('arrow keys send other bytes in application mode', () => {
  expect(press('up', { hasTerminal: true, applicationKeys: true })).toEqual({
    does: 'write',
    text: '\x1bOA',
  });
});

test.each(['nonsense', '', 'alt-', 'alt-nonsense', 'ctrl-1', 'constructor', '__proto__', 'alt-constructor'])(
  '%j is not a key, and the error lists the keys',
  (name) => {
    expect(() => press(name)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        message: `keys: ${JSON.stringify(name)} is not a key.`,
        hint: expect.stringContaining('ctrl-a to ctrl-z'),
      }),
    );
  },
);

test('names of Object.prototype are not keys of a pipe either', () => {
  for (const name of ['constructor', '__proto__', 'valueOf']) {
    expect(() => press(name, { hasTerminal: false, applicationKeys: false })).toThrow('is not a key');
  }
  expect(press('Return', { hasTerminal: false, applicationKeys: false })).toEqual({
    does: 'write',
    text: '\n',
  });
});
