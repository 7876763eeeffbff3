import { expect, test } from 'vitest';
import { readHeaders } from './raw-headers.ts';

test('H10: headers are found by lower-case name, and repeated ones are joined', () => {
  const headers = readHeaders(['Host', 'a', 'HOST', 'b', 'Cookie', 'x=1', 'cookie', 'y=2', 'Accept', 'host']);
  expect(['host', 'cookie', 'accept'].map(headers.get)).toEqual(['a, b', 'x=1; y=2', 'host']);
  expect([headers.get('origin'), headers.has('origin'), headers.has('host')]).toEqual([null, false, true]);
});

test('H10: lookups agree with the web’s Headers', () => {
  const raw = ['Authorization', 'Bearer a', 'authorization', 'Bearer b', 'X-Empty', ''];
  const same = new Headers([
    ['Authorization', 'Bearer a'],
    ['authorization', 'Bearer b'],
    ['X-Empty', ''],
  ]);
  for (const name of ['authorization', 'x-empty', 'x-none']) {
    expect(readHeaders(raw).get(name)).toBe(same.get(name));
    expect(readHeaders(raw).has(name)).toBe(same.has(name));
  }
});
