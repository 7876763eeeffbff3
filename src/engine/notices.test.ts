import { expect, test } from 'vitest';
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

test('who looks at processes in a namespace of its own is told what it saw, once, with the setting', () => {
  expect(noticesFor(found('git', '/usr/bin/pkill', 'ps'), own)).toEqual([
    'pkill saw only processes that this command started (processes: own); processes: host shows all.',
  ]);
});

test('who would gain rights is told that it cannot', () => {
  expect(noticesFor(found('sudo', 'ls'), own)).toEqual([
    'sudo cannot gain rights here (processes: own, level namespace); processes: host lets it.',
  ]);
  expect(noticesFor(found('su'), { ...own, sandbox: 'strict' })).toEqual([
    'su cannot gain rights here (sandbox: strict).',
  ]);
});

test('nothing is said where nothing is otherwise', () => {
  expect(noticesFor(found('git', 'ls'), own)).toEqual([]);
  expect(
    noticesFor(found('ps', 'sudo'), { ...own, level: 'group', processes: 'host', setuid: true }),
  ).toEqual([]);
  expect(noticesFor(found('ps'), null)).toEqual([]);
});
