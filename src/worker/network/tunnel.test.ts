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
])('a lookup with `all: %s` returns the given addresses', (all, wanted) => {
  const returned: unknown[] = [];
  toLookup(['192.0.2.1', '2001:db8::1'])('any.example', { all }, (error, ...found) =>
    returned.push(error, ...found),
  );
  expect(returned).toEqual([null, ...wanted]);
});
