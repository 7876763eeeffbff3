import { expect, test } from 'vitest';
import { toLookup } from './tunnel.ts';

test.each([
  [
    true,
    [
      [
        { address: '192.0.2.1', family: 4 },
        { address: '2001:db8::1', family: 6 },
      ],
    ],
  ],
  [false, ['192.0.2.1', 4]],
])('a connection that wants all addresses (%s) gets what was decided on', (all, wanted) => {
  const given: unknown[] = [];
  toLookup(['192.0.2.1', '2001:db8::1'])('any.example', { all }, (error, ...found) =>
    given.push(error, ...found),
  );
  expect(given).toEqual([null, ...wanted]);
});
