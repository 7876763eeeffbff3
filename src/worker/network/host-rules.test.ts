import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isAddressListed, isHostAllowed, toPlainHost } from './host-rules.ts';

const pieces = fc.oneof(
  fc.constantFrom(
    'example',
    'com',
    'org',
    '.',
    '@',
    '#',
    ':',
    '%',
    '[',
    ']',
    'EXAMPLE.ORG',
    '.example.org',
    '\u0000',
  ),
  fc.string({ maxLength: 3 }),
);

describe('a list of hosts', () => {
  test.each([
    ['example.com', 443, ['example.com']],
    ['example.com', 80, ['example.com']],
    ['EXAMPLE.com.', 443, ['Example.COM']],
    ['example.com', 443, ['example.com.']],
    ['example.com', 8443, ['example.com:8443']],
    ['example.com', 22, ['example.com:*']],
    ['a.example.com', 443, ['*.example.com']],
    ['a.b.example.com', 8080, ['*.example.com:8080']],
    ['192.0.2.1', 443, ['192.0.2.1']],
    ['192.0.2.1', 22, ['192.0.2.1:22']],
    ['2001:db8::1', 443, ['2001:0db8:0::1']],
    ['[2001:db8::1]', 22, ['[2001:db8::1]:22']],
    ['db', 5432, ['other', 'db:5432']],
  ])('allows %s at port %i with %j', (host, port, allow) => {
    expect(isHostAllowed(host, port, allow)).toBe(true);
  });

  test.each([
    ['example.com', 443, []],
    ['example.com', 22, ['example.com']],
    ['example.com', 443, ['example.com:80']],
    ['example.com', 443, ['*.example.com']],
    ['badexample.com', 443, ['*.example.com']],
    ['example.com.evil.net', 443, ['example.com', '*.example.com']],
    ['evil.net#.example.com', 443, ['*.example.com']],
    ['user@example.com', 443, ['example.com', '*.com']],
    ['example.com', 443, ['', '*.', '*']],
    ['', 443, ['', '*.']],
    ['10.0.0.1', 443, ['*.0.0.1', '*.1']],
    ['::1', 443, ['1', '*.1']],
    ['fe80::1%eth0', 443, ['fe80::1', 'fe80::1%eth0']],
    ['192.0.2.1', 443, ['192.0.2.10']],
  ])('refuses %s at port %i with %j', (host, port, allow) => {
    expect(isHostAllowed(host, port, allow)).toBe(false);
  });

  test('allows no host that it does not name, however it is written', () => {
    fc.assert(
      fc.property(
        fc.array(pieces, { maxLength: 6 }).map((all) => all.join('')),
        fc.nat(65_535),
        (host, port) => {
          const name = toPlainHost(host);
          const isAllowed = isHostAllowed(host, port, ['example.com:*', '*.example.org:*']);
          return isAllowed === (name === 'example.com' || name.endsWith('.example.org'));
        },
      ),
    );
  });

  test('lists an address only by that address', () => {
    expect(isAddressListed('10.0.0.5', 443, ['git.example.com', '10.0.0.5'])).toBe(true);
    expect(isAddressListed('10.0.0.6', 443, ['git.example.com', '10.0.0.5'])).toBe(false);
    expect(isAddressListed('git.example.com', 443, ['git.example.com'])).toBe(false);
  });
});
