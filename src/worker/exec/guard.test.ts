import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { runGuard } from './guard.ts';

// This file has a process of its own, which stays restricted from the last test on.
test('an order that is none ends the guard', async () => {
  expect(await runGuard([])).toBe(125);
});

test('a guard whose program is missing says so, and the process stays restricted', async () => {
  expect(spawnSync('/usr/bin/id').status).toBe(0);
  const order = { allow: ['/nowhere/at/all', '/usr/bin/true'], fds: [2], env: { NODE_ENV: 'test' } };
  expect(await runGuard([JSON.stringify(order), '/nowhere/at/all'])).toBe(125);
  expect(spawnSync('/usr/bin/id').error).toMatchObject({ code: 'EACCES' });
  // Without its loader even an allowed program does not start.
  expect(spawnSync('/usr/bin/true').error).toMatchObject({ code: 'EACCES' });
});
