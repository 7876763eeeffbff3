import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createExecGuard } from './exec-guard.ts';
import { runGuard } from './guard.ts';
import { type Libc, loadLibc } from './libc.ts';

// This file has a process of its own, which stays restricted from the last test on.
test('an order that is none ends the guard', async () => {
  expect(await runGuard([])).toBe(125);
});

describe('a guard for which there is', () => {
  const order = JSON.stringify({ allow: [], fds: [], env: {} });
  const said = async (load: () => Promise<Libc>) => {
    const words: string[] = [];
    const say = (text: string) => words.push(text);
    expect(await runGuard([order, '/usr/bin/true'], { load, say })).toBe(125);
    return words.join('');
  };

  test('no koffi says so on one line', async () => {
    const missing = async () => Promise.reject(new Error('Cannot find package\nRequire stack'));
    expect(await said(missing)).toBe(
      'the optional package koffi could not be loaded (Cannot find package)\n',
    );
    expect(await said(async () => Promise.reject('gone'))).toContain('(gone)');
  });

  test('only an old Landlock says so, and restricts nothing', async () => {
    const libc = await loadLibc();
    expect(await said(async () => ({ ...libc, landlockVersion: () => 1 }))).toContain(
      'too old here (version 1)',
    );
    expect(spawnSync('/usr/bin/id').status).toBe(0);
  });
});

test('of the programs that may be run those are told that could be changed', () => {
  const { writable } = createExecGuard('/nowhere', { allow: ['/nowhere/at/all', import.meta.filename] });
  expect(writable()).toEqual([import.meta.filename]);
});

test('a guard whose program is missing says so, and the process stays restricted', async () => {
  expect(spawnSync('/usr/bin/id').status).toBe(0);
  const order = { allow: ['/nowhere/at/all', '/usr/bin/true'], fds: [2], env: { NODE_ENV: 'test' } };
  expect(await runGuard([JSON.stringify(order), '/nowhere/at/all'])).toBe(125);
  expect(spawnSync('/usr/bin/id').error).toMatchObject({ code: 'EACCES' });
  // Without its loader even an allowed program does not start.
  expect(spawnSync('/usr/bin/true').error).toMatchObject({ code: 'EACCES' });
});
