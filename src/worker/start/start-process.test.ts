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
// Opens /dev/null for inherited descriptors, which then stays open; so it does not count as a leak.
withoutInherited([]);
beforeEach(async () => {
  folder = temporaryFolder();
  const pool = createFifoPool(join(folder, 'fifos'));
  fifos = await pool.take(3);
  await pool.close();
  before = openDescriptors();
});
// Every failure must close all descriptors and unlink all FIFOs.
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

describe('a start fails', () => {
  test('with invalid_request if the arguments are too long', async () => {
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
  ])('E6: with invalid_request for a NUL byte in %s', async (_, changes) => {
    await expect(startProcess(plan(changes))).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('NUL'),
    });
  });

  test('T7: with an error that names a missing directory', async () => {
    const cwd = join(folder, 'gone');
    await expect(startProcess(plan({ cwd }))).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringContaining(cwd),
    });
  });

  test('T7: with an error that names the directory if it is a file', async () => {
    const cwd = join(folder, 'plain');
    writeFileSync(cwd, '');
    await expect(startProcess(plan({ cwd }))).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringContaining(cwd),
    });
  });

  test('with an error that names a missing program', async () => {
    await expect(startProcess(plan({ command: argv('no-such-program') }))).rejects.toMatchObject({
      code: 'program_not_found',
      message: 'no-such-program: command not found (spawn no-such-program ENOENT).',
    });
  });

  test('with NotExecutableError for a file that is not executable', async () => {
    await expect(startProcess(plan({ command: argv(folder) }))).rejects.toBeInstanceOf(NotExecutableError);
  });

  test('with resources_unavailable, not program_not_found, if a FIFO was deleted', async () => {
    rmSync(fifos[1] ?? '');
    await expect(startProcess(plan())).rejects.toMatchObject({
      code: 'resources_unavailable',
      message: expect.stringContaining('ENOENT'),
    });
  });

  test('with resources_unavailable if its long script cannot be written to a file', async () => {
    mkdirSync(join(folder, 'scripts', 'one'), { recursive: true });
    const command = { kind: 'shell', script: `true ${'x'.repeat(200_000)}` } as const;
    await expect(startProcess(plan({ command }))).rejects.toMatchObject({
      code: 'resources_unavailable',
      message: expect.stringContaining('EISDIR'),
    });
  });
});
