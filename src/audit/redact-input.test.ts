import { expect, test } from 'vitest';
import { createMask, createRedact, createRedactInput } from './redact.ts';

test('S6: a secret that is typed in two pieces appears in neither record', () => {
  const hide = createRedact(['hunter2-value']);
  const redact = createRedactInput(() => hide);
  expect(redact('a', 'say hunter2-')).toBe('say hunter2-');
  expect(redact('a', 'value now')).toBe('[redacted]');
  expect(redact('a', 'more')).toBe('more');
  // Input of another command (`b`) is not joined with that of `a`.
  expect(redact('b', 'value now')).toBe('value now');
  redact('c', 'export TOKEN=');
  expect(redact('c', 'abc')).toBe('[redacted]');
  redact('d', 'say hunter2-');
  redact.forget('d');
  expect(redact('d', 'value')).toBe('value');
});

test('S6: a mask keeps all positions, and openEnd finds the beginning of a secret', () => {
  const mask = createMask(['two words', 'short', 'ünïcödé']);
  const hide = (text: string) =>
    Buffer.from(mask.hide(Buffer.from(text).toString('latin1')), 'latin1').toString();
  expect(hide('a two words b')).toBe('a ********* b');
  expect(hide('short')).toBe('short');
  expect(hide('ünïcödé')).toBe('*'.repeat(Buffer.byteLength('ünïcödé')));
  expect(hide('curl https://me:secret@host/ --token abc')).toBe('curl https://me:******@host/ --token ***');
  expect(mask.openEnd('done two ')).toBe(4);
  expect(mask.openEnd('done two w')).toBe(5);
  expect(mask.openEnd('done two words ')).toBe(0);
  expect(mask.openEnd('x'.repeat(9_000))).toBe(0);
  expect(createMask([]).openEnd('some wor')).toBe(3);
});
