import { expect, test } from 'vitest';
import { isLoopback } from './is-loopback.ts';

test.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('H10: only this machine can reach %s', (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each(['0.0.0.0', '::', '127.evil', '10.0.0.1', '127.0.0.1.evil'])(
  'H10: other machines may reach %s',
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);
