import { expect, test } from 'vitest';
import { createSites } from './sites.ts';

const options = {
  secure: false,
  host: '127.0.0.1',
  port: 7433,
  moreHosts: ['Nacre.example'],
  corsOrigins: ['http://a.b'],
};
const sites = createSites(options);

test.each([
  ['127.0.0.1:7433', 'main'],
  ['LOCALHOST:7433', 'main'],
  ['[::1]:7433', 'main'],
  ['nacre.example', 'main'],
  ['nacre.example:8443', 'main'],
  ['git.localhost:7433', 'applet'],
  ['localhost', undefined],
  ['a.git.localhost:7433', undefined],
  ['-x.localhost:7433', undefined],
  ['git.localhost.evil:7433', undefined],
  ['127.0.0.1:7433@evil', undefined],
  ['0x7f000001:7433', undefined],
  ['', undefined],
  [null, undefined],
] as const)('H10: the Host %s names the site %s', (host, kind) => {
  expect(sites.find(host)?.kind).toBe(kind);
});

test('H8: a port that is assigned to an applet serves it under every name of this machine', () => {
  const own = createSites(options);
  expect(own.find('127.0.0.1:9000')).toBeUndefined();
  expect(own.assignPort('git', 9000)).toBe('http://127.0.0.1:9000');
  expect(own.find('localhost:9000')).toMatchObject({ kind: 'applet', slug: 'git', cookieName: 'nacre_9000' });
  expect(own.find('other.localhost:9000')).toMatchObject({
    slug: 'other',
    origin: 'http://other.localhost:9000',
  });
});

test('H10: an Origin must be the site itself or one of cors_origins', () => {
  const check = (host: string, origin: string) => sites.check(new Headers({ host, origin }));
  expect(check('localhost:7433', 'http://localhost:7433')).toBeUndefined();
  expect(check('localhost:7433', 'http://a.b')).toBe('http://a.b');
  expect(() => check('git.localhost:7433', 'http://a.b')).toThrow(/another origin/);
  expect(() => check('localhost:7433', 'http://127.0.0.1:7433')).toThrow(/another origin/);
  expect(() => check('evil', 'http://evil')).toThrow(/Host/);
});

test('addresses omit the default port, and a wildcard address becomes localhost', () => {
  expect(createSites({ ...options, port: 80 }).address('git')).toBe('http://git.localhost');
  expect(createSites({ ...options, secure: true, port: 443, host: '::' }).address()).toBe(
    'https://localhost',
  );
  expect(createSites({ ...options, port: 80 }).find('localhost')?.origin).toBe('http://localhost');
});
