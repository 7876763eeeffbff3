import { rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createNacre, type Nacre, ShellManager, ShellStatus } from '../../src/index.ts';
import { createPlace, surroundingsOf, survivors } from '../support/nacre.ts';

let place: ReturnType<typeof createPlace>;
let nacre: Nacre<'bash'>;
beforeEach(async () => {
  place = createPlace();
  nacre = await createNacre({ allowedCwdRoots: [place.cwd] }, surroundingsOf(place));
});
afterEach(async () => {
  await ShellManager.reset();
  await nacre.close();
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
    expect(await shell.getNewOutput(true)).toBe('ut\n[stderr]\nworse\n');
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
    const all = `${Array.from({ length: 400_000 }, (_, index) => index + 1).join('\n')}\n`;
    expect((await shell.getNewOutput()) === all).toBe(true);
    expect(shell.lastReadStdout).toBe(2_688_895);
    shell.lastReadStdout = 2_688_888;
    expect(await shell.getNewOutput()).toBe('400000\n');
  });
});

describe('B13: output that BashOutput and getNewOutput read', () => {
  it('has one position for both', async () => {
    const { bash, bashOutput } = nacre.tools;
    const started = await bash.run({
      command: 'echo one; echo bad >&2; sleep 1000',
      run_in_background: true,
    });
    const id = String(started.metadata.bash_id);
    expect(id).toMatch(/^shell_[0-9a-f]{8}$/);
    const shell = await ShellManager.getShell(id);
    await expect.poll(async () => (await shell?.readOutput())?.stderrBuffer).toBe('bad\n');
    expect(await shell?.getNewOutput()).toBe('one\n');
    // stdout was read, stderr was not.
    const rest = await bashOutput.run({ bash_id: id });
    expect(rest.metadata).toMatchObject({ stdout: '', stderr: 'bad\n' });
    expect(await shell?.getNewOutput({ includeStderr: true })).toBe('');
  });

  it('lets the event loop run, so that a program can poll in a loop', async () => {
    const { bash, bashOutput, listShells } = nacre.tools;
    const started = await bash.run({ command: 'sleep 0.3; echo done', run_in_background: true });
    const input = { bash_id: String(started.metadata.bash_id) };
    let found = await bashOutput.run(input);
    let text = found.output;
    while (found.metadata.is_running) {
      found = await bashOutput.run(input);
      text += found.output;
    }
    expect(text).toContain('done');
    const shell = await ShellManager.createShell('sleep 0.2');
    while (shell.isRunning) await shell.getNewOutput();
    const other = await ShellManager.createShell('sleep 0.2');
    while ((await ShellManager.listRunning()).includes(other));
    while (String((await listShells.run({})).output).includes('running'));
    expect(shell.status).toBe('completed');
  });
});

describe('B13: a shell that another call ends', () => {
  it('is killed at once for every program that has it', async () => {
    const shell = await ShellManager.createShell('sleep 1000');
    await nacre.tools.killShell.run({ shell_id: shell.id });
    expect(shell).toMatchObject({ status: ShellStatus.KILLED, isRunning: false });
    const other = await ShellManager.createShell('sleep 1000');
    await nacre.close();
    expect(other.status).toBe('killed');
    expect((await other.kill()).status).toBe('killed');
    expect((await other.wait()).status).toBe('killed');
  });

  it('has completed within seconds, without a call', async () => {
    const shell = await ShellManager.createShell('true');
    expect(shell.status).toBe('running');
    await expect.poll(() => shell.status, { timeout: 10_000 }).toBe('completed');
  });
});

describe('B13: wait', () => {
  it('kills the shell after timeoutMs, with the status timeout', async () => {
    const shell = await ShellManager.createShell('echo before; sleep 1000');
    await expect.poll(async () => (await shell.readOutput()).stdoutBuffer).toBe('before\n');
    await shell.wait({ timeoutMs: 50 });
    expect(shell).toMatchObject({ status: 'timeout', isRunning: false, stdoutBuffer: 'before\n' });
    expect((await ShellManager.getShell(shell.id))?.status).toBe('timeout');
  });

  it('returns early if the shell ends in time', async () => {
    const shell = await ShellManager.createShell('exit 3');
    expect(await shell.wait({ timeoutMs: 30_000 })).toMatchObject({ status: 'failed', exitCode: 3 });
  });

  it('rejects when its signal aborts, and leaves the shell running', async () => {
    const shell = await ShellManager.createShell('sleep 1000');
    const aborted = AbortSignal.abort();
    await expect(shell.wait({ signal: aborted })).rejects.toMatchObject({ code: 'cancelled' });
    await expect(shell.wait({ signal: AbortSignal.timeout(50) })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect((await shell.readOutput()).status).toBe('running');
    await expect(shell.wait({ timeoutMs: -1 })).rejects.toThrow('timeoutMs must be at least 0');
    await expect(shell.wait({ timeout: 50 } as object)).rejects.toThrow('there is no field "timeout"');
    await expect(shell.wait({ timeoutMs: '50' } as object)).rejects.toThrow('timeoutMs must be a number');
    await expect(shell.getNewOutput({ stderr: true } as object)).rejects.toThrow(
      'there is no field "stderr"',
    );
  });

  it('kills the shell after a number of milliseconds', async () => {
    const shell = await ShellManager.createShell('sleep 1000');
    expect((await shell.wait(50)).status).toBe('timeout');
  });
});

describe('B13: the manager', () => {
  it('starts nothing that policy or the roots refuse, and no invalid command', async () => {
    await expect(ShellManager.createShell('true', '/')).rejects.toMatchObject({ code: 'cwd_not_allowed' });
    await expect(ShellManager.createShell('')).rejects.toThrow('command must not be empty');
    await expect(ShellManager.createShell('true', undefined, { timeoutMs: 0 })).rejects.toThrow('timeoutMs');
    for (const age of [-1, Number.NaN, 'x', null, { maxAgeSeconds: -1 }, { maxAgeSeconds: '5' }])
      await expect(ShellManager.cleanupCompleted(age as number)).rejects.toThrow('maxAgeSeconds must be');
    await expect(ShellManager.cleanupCompleted({ maxAge: 1 } as object)).rejects.toThrow('no field "maxAge"');
    for (const options of [null, 5, 'x'] as unknown[])
      await expect(ShellManager.createShell('true', undefined, options as object)).rejects.toThrow(
        'The options of createShell must be an object',
      );
    await expect(ShellManager.createShell('true', 5 as unknown as string)).rejects.toThrow(
      'Invalid input for createShell: workingDir must be a string, not 5.',
    );
    expect(await ShellManager.listShells()).toEqual([]);
  });

  it('forgets every ended shell, or those of an age', async () => {
    const end = async () => (await ShellManager.createShell('true')).wait();
    await end();
    const running = await ShellManager.createShell('sleep 1000');
    expect(await ShellManager.cleanupCompleted({ maxAgeSeconds: 3_600 })).toBe(0);
    expect(await ShellManager.cleanupCompleted(3_600)).toBe(0);
    expect(await ShellManager.cleanupCompleted(0)).toBe(1);
    await end();
    expect(await ShellManager.cleanupCompleted({ maxAgeSeconds: 0 })).toBe(1);
    await end();
    expect(await ShellManager.cleanupCompleted()).toBe(1);
    expect(await ShellManager.listShells()).toEqual([running]);
  });

  it('does not report the end of a shell that it cannot observe', async () => {
    const seen: string[] = [];
    const onStatus = (status: string) => seen.push(status);
    await ShellManager.createShell('sleep 1000', undefined, { onStatus });
    await nacre.close();
    expect(seen.slice(0, 2)).toEqual(['pending', 'running']);
  });
});
