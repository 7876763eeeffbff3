import { expect, test } from 'vitest';
import type { Enforcement } from '../../contract/isolation.ts';
import { noticesFor } from './notices.ts';

const found = (...names: string[]) => names.map((name) => ({ name, pos: 0, end: 1 }));
const own = {
  level: 'namespace',
  files: 'off',
  sandbox: 'off',
  network: 'on',
  processes: 'own',
  setuid: false,
  exec: 'off',
  gaps: [],
} as const;
const notices = (names: readonly string[], enforcement: Enforcement | null) =>
  noticesFor(found(...names), { enforcement, kept: [] });

test('a program that lists processes in its own pid namespace gets one notice with the setting', () => {
  expect(notices(['git', '/usr/bin/pkill', 'ps'], own)).toEqual([
    'pkill saw only processes that this command started (processes: own); processes: host shows all.',
  ]);
});

test('a setuid program gets a notice that it cannot gain privileges', () => {
  expect(notices(['sudo', 'ls'], own)).toEqual([
    'sudo cannot gain privileges here (processes: own, level namespace); processes: host allows it.',
  ]);
  expect(notices(['su'], { ...own, sandbox: 'strict' })).toEqual([
    'su cannot gain privileges here (sandbox: strict).',
  ]);
});

test('programs that behave as usual get no notice', () => {
  expect(notices(['git', 'ls'], own)).toEqual([]);
  expect(notices(['ps', 'sudo'], { ...own, level: 'group', processes: 'host', setuid: true })).toEqual([]);
  expect(notices(['ps'], null)).toEqual([]);
});

test('a daemon that stays gets a notice', () => {
  const kept = [{ pid: 7, command: 'gpg-agent --daemon' }];
  expect(noticesFor([], { enforcement: own, kept })).toEqual([
    'gpg-agent --daemon (pid 7) keeps running until nacre exits (keep).',
  ]);
});
