import { describe, expect, test } from 'vitest';
import { isPrivateAddress, resolveTarget } from './resolve-target.ts';

const resolveTo =
  (...addresses: string[]) =>
  async () =>
    addresses;
const target = { host: 'git.example.com', port: 443 };

describe('a target', () => {
  test('that is listed is reached at its resolved addresses', async () => {
    const found = await resolveTarget(target, ['*.example.com'], resolveTo('93.184.216.34', '2606:2800::1'));
    expect(found).toEqual({ addresses: ['93.184.216.34', '2606:2800::1'] });
  });

  test('that is not listed is not even resolved', async () => {
    const resolve = async () => expect.unreachable();
    expect(await resolveTarget(target, ['example.com'], resolve)).toEqual({ refused: 'not_listed' });
  });

  test.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:10.0.0.1', 'fd00::1', 'nonsense'])(
    'with a public name that resolves to %s is refused',
    async (address) => {
      const found = await resolveTarget(target, ['git.example.com'], resolveTo(address));
      expect(found).toEqual({ refused: 'private' });
    },
  );

  test('keeps its public addresses when some are private', async () => {
    const found = await resolveTarget(target, ['git.example.com'], resolveTo('10.0.0.1', '93.184.216.34'));
    expect(found).toEqual({ addresses: ['93.184.216.34'] });
  });

  test('may be in a private network if the address is also listed', async () => {
    const found = await resolveTarget(
      target,
      ['git.example.com', '10.0.0.1'],
      resolveTo('10.0.0.1', '10.0.0.2'),
    );
    expect(found).toEqual({ addresses: ['10.0.0.1'] });
  });

  test('that is an address is not resolved', async () => {
    const found = await resolveTarget({ host: '127.0.0.1', port: 80 }, ['127.0.0.1']);
    expect(found).toEqual({ addresses: ['127.0.0.1'] });
  });

  test('below localhost is always this machine', async () => {
    const local = { host: 'a.localhost', port: 80 };
    expect(await resolveTarget(local, ['*.localhost'])).toEqual({ addresses: ['127.0.0.1', '::1'] });
    expect(await resolveTarget(local, ['*.localhost'], resolveTo('10.0.0.1'))).toEqual({
      refused: 'private',
    });
    expect(await resolveTarget({ host: 'localhost', port: 80 }, ['localhost'])).toHaveProperty('addresses');
  });

  test('without an address cannot be reached', async () => {
    expect(await resolveTarget(target, ['git.example.com'], resolveTo())).toEqual({
      failed: 'the name has no address',
    });
    const failing = () => Promise.reject(new Error('no such name'));
    expect(await resolveTarget(target, ['git.example.com'], failing)).toEqual({ failed: 'no such name' });
    const odd = () => Promise.reject('odd');
    expect(await resolveTarget(target, ['git.example.com'], odd)).toEqual({ failed: 'odd' });
  });

  test('is resolved by the system by default', async () => {
    // A label of 64 characters is invalid, so that no DNS server is asked.
    const host = `${'a'.repeat(64)}.invalid`;
    expect(await resolveTarget({ host, port: 80 }, [host])).toHaveProperty('failed');
  });
});

test.each([
  ['8.8.8.8', false],
  ['172.15.0.1', false],
  ['172.16.0.1', true],
  ['100.64.0.1', true],
  ['0.0.0.0', true],
  ['224.0.0.1', true],
  ['2606:4700::1', false],
  ['::', true],
  ['::ffff:8.8.8.8', false],
  ['::ffff:192.168.1.1', true],
  ['64:ff9b::a00:1', true],
  ['2002:a00:1::', true],
  ['fe80::1', true],
])('%s is private: %s', (address, is) => {
  expect(isPrivateAddress(address)).toBe(is);
});
