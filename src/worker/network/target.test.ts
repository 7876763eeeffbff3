import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatTarget, fromAuthority, fromUrl } from './target.ts';

test.each([
  ['Example.COM:443', { host: 'example.com', port: 443 }],
  ['example.com.:80', { host: 'example.com', port: 80 }],
  ['[2001:DB8:0::1]:22', { host: '2001:db8::1', port: 22 }],
  ['0x7f.1:80', { host: '127.0.0.1', port: 80 }],
  ['2130706433:80', { host: '127.0.0.1', port: 80 }],
  ['[::ffff:127.0.0.1]:80', { host: '::ffff:7f00:1', port: 80 }],
])('CONNECT %s is parsed as %j', (authority, target) => {
  expect(fromAuthority(authority)).toEqual(target);
});

test.each([
  ...['', 'example.com', 'example.com:', 'example.com:0', 'example.com:65536', ':443', 'a@example.com:443'],
  ...[
    'example.com:443:443',
    'example.com:443/',
    'http://example.com:443',
    'exa mple.com:443',
    '1.2.3.999:80',
  ],
  ...['[::1:80', '[::1%25lo]:80', '..:80', `${'a'.repeat(254)}:80`, 'b\u00fccher.example:443', 'a%2ecom:443'],
])('CONNECT %j is refused', (authority) => {
  expect(fromAuthority(authority)).toBeUndefined();
});

test.each([
  ['http://Example.com', { host: 'example.com', port: 80, path: '/' }],
  ['HTTP://example.com:8080/a?b#c', { host: 'example.com', port: 8080, path: '/a?b' }],
  ['http://[::1]:8080/', { host: '::1', port: 8080, path: '/' }],
  ['http://example.com:80/a@b', { host: 'example.com', port: 80, path: '/a@b' }],
])('a request for %s is parsed as %j', (url, target) => {
  expect(fromUrl(url)).toEqual(target);
});

test.each([
  ...['', '/', '*', 'example.com', 'https://example.com/', 'ftp://example.com/', 'http:example.com'],
  ...['http://listed.example@other.example/', 'http://a:b@example.com/', 'http://@example.com/', 'http://'],
  ...['http://example.com:0/', 'http://example.com:99999/'],
])('a request for %j is refused', (url) => {
  expect(fromUrl(url)).toBeUndefined();
});

test('an IPv6 address is formatted in brackets', () => {
  expect(formatTarget({ host: '::1', port: 80 })).toBe('[::1]:80');
});

test('a target that was parsed can be formatted and parsed again', () => {
  fc.assert(
    fc.property(fc.oneof(fc.webAuthority(), fc.string()), (authority) => {
      const target = fromAuthority(authority);
      if (target) expect(fromAuthority(formatTarget(target))).toEqual(target);
    }),
  );
});
