import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it, vi } from 'vitest';
import {
  createNacre,
  registerExecutionTools,
  runWorkflow,
  ShellManager,
  ShellProcess,
  ToolRegistry,
} from '../../src/index.ts';
import { createPlace, surroundingsOf, survivors } from '../support/nacre.ts';

const place = createPlace();
afterAll(async () => {
  vi.unstubAllEnvs();
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true, force: true });
});

// In order: the process has called `createNacre` only after the first test.
it('B13: a program that never calls createNacre gets an instance with default settings', async () => {
  vi.stubEnv('XDG_STATE_HOME', join(place.cwd, 'state'));
  vi.stubEnv('PLACE', place.mark);
  const shell = await ShellManager.createShell('echo "$PLACE"; pwd; sleep 1000');
  await expect
    .poll(async () => (await shell.readOutput()).stdoutBuffer, { timeout: 15_000 })
    .toBe(`${place.mark}\n${realpathSync(process.cwd())}\n`);
  await ShellManager.reset();
  expect(shell.status).toBe('killed');
  expect(await survivors(place.mark)).toEqual([]);
  const next = await ShellManager.createShell('true');
  expect(await next.wait()).toMatchObject({ status: 'completed' });
  const names = registerExecutionTools(new ToolRegistry()).list();
  expect(names.map(({ name }) => name)).toEqual(['Bash', 'BashOutput', 'KillShell', 'ListShells']);
  await ShellManager.reset();
});

it('P12: after close, nothing runs under other rules than those of the closed instance', async () => {
  const closed = { code: 'closed', message: expect.stringContaining('closed') };
  const nacre = await createNacre({ allowedCommands: ['ls'], loginEnv: 'never' }, surroundingsOf(place));
  const shell = await ShellManager.createShell('ls');
  await shell.wait();
  await nacre.close();
  await expect(ShellManager.createShell('touch made')).rejects.toMatchObject(closed);
  await expect(ShellManager.listShells()).rejects.toMatchObject(closed);
  await expect(ShellManager.getShell(shell.id)).rejects.toMatchObject(closed);
  await expect(runWorkflow([{ id: 'a', command: 'ls' }])).rejects.toMatchObject(closed);
  expect(() => registerExecutionTools(new ToolRegistry())).toThrow('has been closed');
  await expect(nacre.run('ls')).rejects.toMatchObject(closed);
  await expect(nacre.check('ls')).rejects.toMatchObject(closed);
  await expect(nacre.runWorkflow([{ id: 'a', command: 'ls' }])).rejects.toMatchObject(closed);
  await expect(shell.readOutput()).rejects.toMatchObject(closed);
  await expect(shell.getNewOutput()).rejects.toMatchObject(closed);
  expect(await nacre.tools.bash.run({ command: 'ls' })).toMatchObject({
    success: false,
    metadata: { code: 'closed' },
  });
  expect(await nacre.registry.execute('Bash', { command: 'ls' })).toMatchObject({
    success: false,
    metadata: { code: 'closed' },
  });
  await ShellManager.reset();
  await expect(ShellManager.createShell('touch made')).rejects.toMatchObject(closed);
});

it('P12: another instance serves module functions again, under its own list', async () => {
  const nacre = await createNacre({ allowedCommands: ['ls'], loginEnv: 'never' }, surroundingsOf(place));
  expect(await ShellManager.createShell('ls')).toBeInstanceOf(ShellProcess);
  await expect(ShellManager.createShell('touch made')).rejects.toMatchObject({ code: 'policy_denied' });
  await nacre.close();
  await expect(ShellManager.createShell('ls')).rejects.toMatchObject({ code: 'closed' });
});
