import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { Isolation } from '../../contract/isolation.ts';
import { tightenIsolation } from './workspace.ts';

const settings: Isolation = {
  sandbox: 'workspace',
  network: 'on',
  networkAllow: [],
  processes: 'own',
  workspace: [],
  homeShow: [],
  unprotected: [],
};

test('a call gets the isolation that it requests if it is stricter, and a workspace if the settings name none', () => {
  expect(tightenIsolation(settings)).toEqual(settings);
  expect(tightenIsolation(settings, { sandbox: 'strict' })).toEqual({ ...settings, sandbox: 'strict' });
  expect(tightenIsolation(settings, { workspace: ['/a'] })).toEqual({ ...settings, workspace: ['/a'] });
  expect(tightenIsolation({ ...settings, workspace: ['/b'] }, { workspace: ['/a'] }).workspace).toEqual([
    '/b',
  ]);
});

test('a looser sandbox is refused', () => {
  expect(() => tightenIsolation(settings, { sandbox: 'off' })).toThrow(
    'sandbox off is looser than workspace, which the settings require',
  );
});

describe('a command', () => {
  let here: TestWorker;
  afterEach(() => here.close());

  test('runs in the sandbox that it requests, and not with a workspace other than its directory', async () => {
    here = createTestWorker({ highestLevel: 'namespace', home: '/nowhere' });
    // Not below /tmp, which a sandbox replaces.
    const project = mkdtempSync('/var/tmp/nacre-project-');
    const other = mkdtempSync('/var/tmp/nacre-other-');
    onTestFinished(() => {
      for (const folder of [project, other]) rmSync(folder, { recursive: true });
    });
    const write = `touch here; touch ${other}/there`;
    const one = await here.run(write, { cwd: project, isolation: { sandbox: 'workspace' } });
    expect(one.state.enforcement).toMatchObject({ sandbox: 'workspace', network: 'off', setuid: false });
    expect([existsSync(`${project}/here`), existsSync(`${other}/there`)]).toEqual([true, false]);
    const elsewhere = { sandbox: 'workspace', workspace: [other] } as const;
    await expect(here.start(write, { cwd: project, isolation: elsewhere })).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: `The working directory ${project} is not in the workspace of the sandbox. Nothing was run.`,
      hint: expect.stringContaining(other),
    });
    await here.run(`rm ${project}/here; ${write}; touch there`, { cwd: other, isolation: elsewhere });
    expect([existsSync(`${project}/here`), existsSync(`${other}/there`)]).toEqual([true, true]);
    const unsandboxed = await here.run('rm here', { cwd: project });
    expect(unsandboxed.state.enforcement).toMatchObject({ sandbox: 'off' });
  });

  test.each([
    ['unshare', 'own', 'Landlock'],
    ['group', 'own', 'Landlock'],
    ['namespace', 'host', 'processes: host runs commands outside'],
  ] as const)('at level %s with processes: %s is refused a sandbox', async (highestLevel, processes, why) => {
    here = createTestWorker({ highestLevel, processes });
    const asked = { isolation: { sandbox: 'strict' } } as const;
    await expect(here.start('touch made', asked)).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringContaining(why),
    });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
  });

  test('is refused limits above those of the settings', async () => {
    here = createTestWorker({ maxProcesses: 50 });
    const id = here.start('touch made', { limits: { maxProcesses: 60 } });
    await expect(id).rejects.toMatchObject({
      code: 'invalid_request',
      hint: 'Ask for at most 50, or leave max_processes out.',
    });
    expect(existsSync(join(here.folder, 'made'))).toBe(false);
  });
});
