import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openDescriptors } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import type { Command } from '../../contract/command.ts';
import { createFifoPool } from '../io/fifo-pool.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import { NotExecutableError } from './start-failures.ts';
import { type ProcessPlan, startProcess } from './start-process.ts';

let folder = '';
let fifos: readonly string[] = [];
let before = 0;
// What stands in for descriptors that were left open in this process is opened once and stays.
withoutInherited([]);
beforeEach(async () => {
  folder = temporaryFolder();
  const pool = createFifoPool(join(folder, 'fifos'));
  fifos = await pool.take(3);
  await pool.close();
  before = openDescriptors();
});
// Whatever goes wrong, no descriptor and no pipe stays.
afterEach(() => {
  expect(openDescriptors()).toBe(before);
  expect(fifos.filter((name) => existsSync(name))).toEqual([]);
  rmSync(folder, { recursive: true, force: true });
});

const plan = (changes: Partial<ProcessPlan> = {}): ProcessPlan => ({
  command: { kind: 'shell', script: 'true' },
  cwd: folder,
  env: { PATH: '/usr/bin:/bin' },
  bashPath: '/bin/bash',
  fifos,
  scriptPath: join(folder, 'scripts', 'one'),
  ...changes,
});
const argv = (...words: [string, ...string[]]): Command => ({ kind: 'argv', argv: words });

describe('what cannot be started', () => {
  test('for the length of its arguments is an invalid request', async () => {
    await expect(startProcess(plan({ command: argv('echo', 'x'.repeat(3_000_000)) }))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('too long'),
    });
  });

  test.each([
    ['an argument', { command: argv('echo', 'a\0b') }],
    ['a script', { command: { kind: 'shell', script: 'echo a\0b' } as const }],
    ['a variable', { env: { PATH: '/usr/bin', X: 'a\0b' } }],
    ['a directory', { cwd: '/tmp/a\0b' }],
  ])('E6: for a NUL byte in %s is an invalid request', async (_, changes) => {
    await expect(startProcess(plan(changes))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('NUL'),
    });
  });

  test('T7: for a directory that is gone names the directory', async () => {
    const cwd = join(folder, 'gone');
    await expect(startProcess(plan({ cwd }))).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringContaining(cwd),
    });
  });

  test('T7: for a file in place of the directory names the directory', async () => {
    const cwd = join(folder, 'plain');
    writeFileSync(cwd, '');
    await expect(startProcess(plan({ cwd }))).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringContaining(cwd),
    });
  });

  test('for a missing program names the program', async () => {
    await expect(startProcess(plan({ command: argv('no-such-program') }))).rejects.toMatchObject({
      code: 'program_not_found',
      message: 'no-such-program: command not found.',
    });
  });

  test('for a file that is not executable is known as such', async () => {
    await expect(startProcess(plan({ command: argv(folder) }))).rejects.toBeInstanceOf(NotExecutableError);
  });

  test('for a pipe that somebody deleted is not blamed on the program', async () => {
    rmSync(fifos[1] ?? '');
    await expect(startProcess(plan())).rejects.toMatchObject({
      code: 'resources_unavailable',
      message: expect.stringContaining('ENOENT'),
    });
  });

  test('for a place for its long script that cannot be written is told so', async () => {
    mkdirSync(join(folder, 'scripts', 'one'), { recursive: true });
    const command = { kind: 'shell', script: `true ${'x'.repeat(200_000)}` } as const;
    await expect(startProcess(plan({ command }))).rejects.toMatchObject({
      code: 'resources_unavailable',
      message: expect.stringContaining('EISDIR'),
    });
  });
});
