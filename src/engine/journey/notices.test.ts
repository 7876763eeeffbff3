import { expect, test } from 'vitest';
import type { Enforcement } from '../../contract/isolation.ts';
import { noticesFor } from './notices.ts';

const found = (...names: string[]) => names.map((name) => ({ name, pos: 0, end: 1 }));
const own = {
  level: 'namespace',
  sandbox: 'off',
  network: 'on',
  processes: 'own',
  setuid: false,
  exec: 'off',
  gaps: [],
} as const;
const notices = (names: readonly string[], enforcement: Enforcement | null) =>
  noticesFor(found(...names), { enforcement, kept: [] });

test('who looks at processes in a namespace of its own is told what it saw, once, with the setting', () => {
  expect(notices(['git', '/usr/bin/pkill', 'ps'], own)).toEqual([
    'pkill saw only processes that this command started (processes: own); processes: host shows all.',
  ]);
});

test('who would gain rights is told that it cannot', () => {
  expect(notices(['sudo', 'ls'], own)).toEqual([
    'sudo cannot gain rights here (processes: own, level namespace); processes: host lets it.',
  ]);
  expect(notices(['su'], { ...own, sandbox: 'strict' })).toEqual([
    'su cannot gain rights here (sandbox: strict).',
  ]);
});

test('nothing is said where nothing is otherwise', () => {
  expect(notices(['git', 'ls'], own)).toEqual([]);
  expect(notices(['ps', 'sudo'], { ...own, level: 'group', processes: 'host', setuid: true })).toEqual([]);
  expect(notices(['ps'], null)).toEqual([]);
});

test('a daemon that stays is named', () => {
  const kept = [{ pid: 7, command: 'gpg-agent --daemon' }];
  expect(noticesFor([], { enforcement: own, kept })).toEqual([
    'gpg-agent --daemon (pid 7) stays until nacre ends (keep).',
  ]);
});
