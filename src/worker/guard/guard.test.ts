import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { needLandlock } from '../../../tests/support/needs.ts';
import { createExecGuard } from '../exec/exec-guard.ts';
import { runGuard } from './guard.ts';
import { type Libc, loadLibc } from './libc.ts';

// Test files run in separate processes: this one stays restricted after its last test.
const report = () => {};

test('an argument that is not JSON ends the guard', async () => {
  expect(await runGuard([], { load: loadLibc, report })).toBe(125);
});

describe('a guard without', () => {
  const options = JSON.stringify({ execute: [], fds: [], env: {} });
  const messageFrom = async (load: () => Promise<Libc>) => {
    const texts: string[] = [];
    const report = (text: string) => texts.push(text);
    expect(await runGuard([options, '/usr/bin/true'], { load, report })).toBe(125);
    return texts.join('');
  };

  test('koffi reports that in one line', async () => {
    const missing = async () => Promise.reject(new Error('Cannot find package\nRequire stack'));
    expect(await messageFrom(missing)).toBe(
      'the optional package koffi could not be loaded (Cannot find package)\n',
    );
    expect(await messageFrom(async () => Promise.reject('gone'))).toContain('(gone)');
  });

  test('a recent Landlock reports that, and restricts nothing', async (context) => {
    await needLandlock(context);
    const libc = await loadLibc();
    expect(await messageFrom(async () => ({ ...libc, landlockVersion: () => 1 }))).toContain(
      'too old (version 1)',
    );
    expect(spawnSync('/usr/bin/id').status).toBe(0);
  });
});

test('allowed programs that the user could change are listed', () => {
  const program = { ownVariables: { prefix: 'X', set: {} }, files: [], toArguments: () => [] };
  const { writablePrograms: writable } = createExecGuard(program, {
    allow: ['/nowhere/at/all', import.meta.filename],
  });
  expect(writable()).toEqual([import.meta.filename]);
});

test('a guard whose program is missing fails, and its process stays restricted', async (context) => {
  await needLandlock(context);
  expect(spawnSync('/usr/bin/id').status).toBe(0);
  const options = { execute: ['/nowhere/at/all', '/usr/bin/true'], fds: [2], env: { NODE_ENV: 'test' } };
  const deps = { load: loadLibc, report };
  expect(await runGuard([JSON.stringify(options), '/nowhere/at/all'], deps)).toBe(125);
  expect(spawnSync('/usr/bin/id').error).toMatchObject({ code: 'EACCES' });
  // Without its loader even an allowed program does not start.
  expect(spawnSync('/usr/bin/true').error).toMatchObject({ code: 'EACCES' });
});
