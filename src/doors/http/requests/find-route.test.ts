import { expect, test } from 'vitest';
import { createFindRoute } from './find-route.ts';

const find = createFindRoute([
  { method: 'GET', path: '/', handler: 'start' },
  { method: 'POST', path: '/api/shell', handler: 'shell' },
  { method: 'GET', path: '/applets/:slug', handler: 'applet' },
  { method: 'GET', path: '/applets/:slug/', handler: 'open applet' },
  { method: '*', path: '/mcp', handler: 'mcp' },
]);

test.each([
  ['GET', '/', 'start', {}],
  ['HEAD', '/', 'start', {}],
  ['POST', '/api/shell', 'shell', {}],
  ['POST', '/api/%73hell', 'shell', {}],
  ['GET', '/applets/a%20b', 'applet', { slug: 'a b' }],
  ['GET', '/applets/%2f%2fevil', 'applet', { slug: '//evil' }],
  ['GET', '/applets/%zz/', 'open applet', { slug: '%zz' }],
  ['DELETE', '/mcp', 'mcp', {}],
])('%s %s is found', (method, path, handler, params) => {
  expect(find(method, path)).toEqual({ handler, params });
});

test.each([
  ['POST', '/'],
  ['GET', '/api/shell'],
  ['POST', '/api/shell/'],
  ['POST', '/api%2fshell'],
  ['GET', '/applets/'],
  ['GET', '/applets//'],
  ['GET', '//'],
  ['GET', '/__proto__'],
])('%s %s is not found', (method, path) => {
  expect(find(method, path)).toBeUndefined();
});

test('the path * matches every path of its method', () => {
  const all = createFindRoute([{ method: 'GET', path: '*', handler: 'file' }]);
  expect(all('GET', '/any/file.js')).toEqual({ handler: 'file', params: {} });
  expect(all('POST', '/any/file.js')).toBeUndefined();
});
