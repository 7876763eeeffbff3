import { expect, test } from 'vitest';
import type { SettingInForce } from '../../settings/setting-in-force.ts';
import { toGreeting } from './greeting.ts';

const link = 'https://[::1]/open?ticket=abc';
const greet = (isNew: boolean, list?: Partial<SettingInForce>, toolWarnings: readonly string[] = []) => {
  const origin = { source: 'default', where: 'default' } as const;
  const settings = [
    { key: 'allowed_commands', value: undefined, limit: undefined, isLive: true, origin, ...list },
  ];
  const deps = { flags: { json: false }, version: '1.2.3', settings, toolWarnings };
  return toGreeting(deps, { address: 'https://[::1]', link }, { text: 'the-token', isNew });
};
const allowed = (...args: Parameters<typeof greet>) => /may run (.*)\.\n/.exec(greet(...args))?.[1];

test('a new token is printed, and the link to open is the last line', () => {
  const text = greet(true);
  expect(text).toMatch(/^nacre 1\.2\.3 serves on https:\/\/\[::1\]\n/);
  expect(text).toContain('the-token');
  expect(text.trimEnd().split('\n').at(-1)).toBe(`  ${link}`);
});

test('H10: a configured token is not printed', () => {
  expect(greet(false)).not.toContain('the-token');
});

test('it says what agents may run', () => {
  const origin = { source: 'flag', where: '--preset', impliedBy: 'git' } as const;
  expect(allowed(true, { value: ['cat', 'git'], origin })).toBe('the programs of the preset git');
  expect(allowed(true, { value: ['cat', 'git'] })).toBe('cat, git');
  expect(allowed(true, { value: [...'abcdefghij'] })).toBe('a, b, c, d, e, f, g, h and 2 more');
  expect(allowed(true, { value: ['*'] })).toBe('every program');
  expect(allowed(true, {})).toBe('every program');
  expect(allowed(true, {}, ['ALLOWED_COMMANDS is not set'])).toBe('nothing');
});
