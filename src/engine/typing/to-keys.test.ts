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
])('%s sends what a terminal sends', (name, text) => {
  expect(press(name)).toEqual({ does: 'write', text });
});

test('arrows have another form for programs that want it', () => {
  expect(press('up', { hasTerminal: true, applicationKeys: true })).toEqual({
    does: 'write',
    text: '\x1bOA',
  });
});

test.each(['nonsense', '', 'alt-', 'alt-nonsense', 'ctrl-1', 'constructor', '__proto__', 'alt-constructor'])(
  '%j is no key, and the error lists them',
  (name) => {
    expect(() => press(name)).toThrow(
      expect.objectContaining({ code: 'invalid_request', hint: expect.stringContaining('ctrl-a to ctrl-z') }),
    );
  },
);

test('names of what every object has are no keys of a pipe, either', () => {
  for (const name of ['constructor', '__proto__', 'valueOf']) {
    expect(() => press(name, { hasTerminal: false, applicationKeys: false })).toThrow('There is no key');
  }
  expect(press('Return', { hasTerminal: false, applicationKeys: false })).toEqual({
    does: 'write',
    text: '\n',
  });
});
