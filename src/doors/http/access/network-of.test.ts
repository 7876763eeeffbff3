import { expect, test } from 'vitest';
import { networkOf } from './network-of.ts';

test.each([
  ['127.0.0.1', 'this machine'],
  ['127.3.2.1', 'this machine'],
  ['::1', 'this machine'],
  ['::ffff:127.0.0.1', 'this machine'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['2001:db8::5:6', '2001:db8:0:0'],
  ['2001:db8:1:2::6', '2001:db8:1:2'],
])('H10: an attempt from %s counts against %s', (address, network) => {
  expect(networkOf(address)).toBe(network);
});
