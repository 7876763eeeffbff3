import { realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createNacre, type Nacre, ShellManager } from '../../src/index.ts';
import { createPlace, survivors } from '../support/nacre.ts';

let place: ReturnType<typeof createPlace>;
let nacre: Nacre<'terminal'>;
beforeEach(async () => {
  place = createPlace();
  nacre = await createNacre({ allowedCwdRoots: [place.cwd] }, place);
});
afterEach(async () => {
  await ShellManager.reset();
  await nacre.close();
  vi.unstubAllEnvs();
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true, force: true });
});

describe('B13: a shell', () => {
  it('has the fields of the specification, as of its last update', async () => {
    const shell = await ShellManager.createShell('echo "$A"; exit 3', place.cwd, { env: { A: 'b' } });
    expect(shell).toMatchObject({ status: 'running', isRunning: true, exitCode: null, endedAt: null });
    await shell.wait();
    expect(shell).toMatchObject({
      id: expect.stringMatching(/^shell_/),
      command: 'echo "$A"; exit 3',
      workingDir: place.cwd,
      status: 'failed',
      exitCode: 3,
      isRunning: false,
      stdoutBuffer: 'b\n',
      stderrBuffer: '',
      pid: expect.any(Number),
    });
    expect(shell.endedAt).toBe(shell.createdAt + shell.durationMs);
    expect(Math.abs(Date.now() - shell.createdAt)).toBeLessThan(20_000);
  });

  it('returns new output of each stream once, even to concurrent calls', async () => {
    const shell = await ShellManager.createShell('printf out; echo bad >&2; echo worse >&2');
    await shell.wait();
    const [one, two] = await Promise.all([shell.getNewOutput(), shell.getNewOutput({ includeStderr: true })]);
    expect([one, two]).toEqual(['out', '[stderr]\nbad\nworse\n']);
    shell.lastReadStdout = 1;
    shell.lastReadStderr = 4;
    expect(await shell.getNewOutput({ includeStderr: true })).toBe('ut\n[stderr]\nworse\n');
    expect(await shell.getNewOutput({ includeStderr: true })).toBe('');
    expect([shell.lastReadStdout, shell.lastReadStderr]).toEqual([3, 10]);
  });

  it('is the same object for every caller', async () => {
    const shell = await ShellManager.createShell('sleep 1000');
    expect(await ShellManager.getShell(shell.id)).toBe(shell);
    expect(await new ShellManager().listRunning()).toEqual([shell]);
    expect((await shell.kill()).status).toBe('killed');
    expect((await shell.kill()).status).toBe('killed');
  });

  it('reads all of a long output, and buffers its end', async () => {
    const shell = await ShellManager.createShell('seq 1 400000');
    await shell.wait();
    expect(shell.stdoutBuffer.endsWith('\n399999\n400000\n')).toBe(true);
    shell.lastReadStdout = 0;
    expect((await shell.getNewOutput()).length).toBeLessThan(2_200_000);
    expect(shell.lastReadStdout).toBe(2_688_895);
  });
});

describe('B13: the manager', () => {
  it('starts nothing that policy or the roots refuse, and no invalid command', async () => {
    await expect(ShellManager.createShell('true', '/')).rejects.toMatchObject({ code: 'cwd_not_allowed' });
    await expect(ShellManager.createShell('')).rejects.toThrow('command must not be empty');
    await expect(ShellManager.createShell('true', undefined, { timeoutMs: 0 })).rejects.toThrow('timeoutMs');
    await expect(ShellManager.cleanupCompleted({ maxAgeSeconds: -1 })).rejects.toThrow('maxAgeSeconds');
    expect(await ShellManager.listShells()).toEqual([]);
  });

  it('forgets ended shells after an hour by default', async () => {
    await (await ShellManager.createShell('true')).wait();
    expect(await ShellManager.cleanupCompleted()).toBe(0);
    expect(await ShellManager.cleanupCompleted({ maxAgeSeconds: 0 })).toBe(1);
    expect(await ShellManager.listShells()).toEqual([]);
  });

  it('uses the first open instance, or one with default settings', async () => {
    await nacre.close();
    vi.stubEnv('XDG_STATE_HOME', join(place.cwd, 'state'));
    vi.stubEnv('PLACE', place.mark);
    const shell = await ShellManager.createShell('echo "$PLACE"; pwd; sleep 1000');
    await expect
      .poll(async () => (await shell.readOutput()).stdoutBuffer, { timeout: 15_000 })
      .toBe(`${place.mark}\n${realpathSync(process.cwd())}\n`);
    await ShellManager.reset();
    expect(shell.status).toBe('killed');
    expect(await survivors(place.mark)).toEqual([]);
  });

  it('does not report the end of a shell that it cannot observe', async () => {
    const seen: string[] = [];
    const onStatus = (status: string) => seen.push(status);
    await ShellManager.createShell('sleep 1000', undefined, { onStatus });
    await nacre.close();
    expect(seen.slice(0, 2)).toEqual(['pending', 'running']);
  });
});
