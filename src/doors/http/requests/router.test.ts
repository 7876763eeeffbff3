import { expect, test } from 'vitest';
import { createRouter } from './router.ts';

const { find, methodsAt } = createRouter([
  { method: 'GET', path: '/', handler: 'start' },
  { method: 'POST', path: '/api/shell', handler: 'shell' },
  { method: 'GET', path: '/applets/:slug', handler: 'applet' },
  { method: 'GET', path: '/applets/:slug/', handler: 'open applet' },
  { method: 'POST', path: '/mcp', handler: 'mcp' },
  { method: 'DELETE', path: '/mcp', handler: 'mcp' },
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
  const { find: all } = createRouter([{ method: 'GET', path: '*', handler: 'file' }]);
  expect(all('GET', '/any/file.js')).toEqual({ handler: 'file', params: {} });
  expect(all('POST', '/any/file.js')).toBeUndefined();
});

test.each([
  ['/', ['GET', 'HEAD']],
  ['/api/shell', ['POST']],
  ['/api/%73hell', ['POST']],
  ['/mcp', ['POST', 'DELETE']],
  ['/applets/any/', ['GET', 'HEAD']],
  ['/nothing', []],
])('%s accepts %j', (path, methods) => {
  expect(methodsAt(path)).toEqual(methods);
});

test('the path * adds its methods only where no other route has the path', () => {
  const { methodsAt: at } = createRouter([
    { method: 'POST', path: '/api/shell', handler: 'shell' },
    { method: 'GET', path: '*', handler: 'file' },
  ]);
  expect([at('/api/shell'), at('/index.html')]).toEqual([['POST'], ['GET', 'HEAD']]);
});
