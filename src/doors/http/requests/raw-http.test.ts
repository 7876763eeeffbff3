import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { toTarget } from './raw-http.ts';

const parse = (url: string, host?: string) => toTarget({ url, headers: { host } } as IncomingMessage);

test.each([
  ['/', '/', ''],
  ['/api/shell', '/api/shell', ''],
  ['/api/shell?a=\\', '/api/shell', '?a=\\'],
  ['/a/./b/../c', '/a/c', ''],
  ['/%2e%2e/x', '/x', ''],
  ['/a%2Fb', '/a%2Fb', ''],
  ['//', '//', ''],
  ['/a#b', '/a', ''],
])('H1: the target %s has the path %s', (url, path, search) => {
  expect(parse(url, 'localhost:1')).toEqual({ path, search });
});

test.each([
  ['/', undefined],
  ['/', ''],
  ['/', 'a@b'],
  ['/', 'a b'],
  ['*', 'localhost'],
  ['a', 'localhost'],
  ['/a\\b', 'localhost'],
])('H2: the target %j with the Host %j is malformed', (url, host) => {
  expect(() => parse(url, host)).toThrow(expect.objectContaining({ status: 400 }));
});
