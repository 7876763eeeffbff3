import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { JobSpec } from '../../contract/job.ts';
import { loadPty, ptyHelper } from './load-pty.ts';

const terminal = { cols: 80, rows: 24 };
const atTerminal: Partial<JobSpec> = { terminal, stdin: 'open' };

describe.each(['group', 'unshare', 'namespace'] as const)('T9: a command at a terminal (%s)', (level) => {
  let here: TestWorker;
  beforeEach(() => {
    here = createTestWorker({ highestLevel: level, supervisionRequire: level });
  });
  afterEach(() => here.close());

  const type = (id: string, text: string) => here.worker.write(id, Buffer.from(text));
  const shows = (id: string, text: string | RegExp) =>
    expect.poll(async () => (await here.output(id)).stdout, { timeout: 15_000 }).toMatch(text);
  const exitOf = async (id: string) => (await here.worker.wait(id, 15_000)).end;

  test('sees a terminal on all three sides, of the size that was asked for', async () => {
    const script = '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && echo "$TERM:$PAGER" >/dev/tty; exit 5';
    const { state, stdout, stderr } = await here.run(script, {
      ...atTerminal,
      terminal: { cols: 132, rows: 43 },
    });
    expect(stdout).toBe('43 132\r\nxterm-256color:\r\n');
    expect(stderr).toBe('');
    expect(state.end).toMatchObject({ exitCode: 5, leftRunning: [], survivors: [] });
  });

  test('is typed to, hears of a new size, and ends with Ctrl-D', async () => {
    const id = await here.start(
      'echo up; while read -r line; do echo "got $line"; stty size; done',
      atTerminal,
    );
    await shows(id, 'up');
    await type(id, 'hello\r');
    await shows(id, 'got hello');
    await here.worker.resize(id, { cols: 200, rows: 60 });
    await type(id, 'again\r');
    await shows(id, '60 200');
    await type(id, '\u0004');
    expect(await exitOf(id)).toMatchObject({ exitCode: 0 });
    await expect(here.worker.resize(id, terminal)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('is interrupted by Ctrl-C, which its supervision outlives', async () => {
    const id = await here.start('export PS1="prompt> "; exec bash --norc -i', atTerminal);
    await shows(id, 'prompt> ');
    await type(id, 'sleep 300\r');
    await shows(id, 'sleep 300\r\n');
    await here.worker.interrupt(id);
    await shows(id, /\^C[\s\S]*prompt> /);
    await type(id, 'echo $((6 * 7)); exit 3\r');
    expect(await exitOf(id)).toMatchObject({ cause: 'exit', exitCode: 3 });
    expect((await here.output(id)).stdout).toContain('42\r\n');
  });

  test('E2: is ended with everything that it started', async () => {
    const id = await here.start(
      'trap "" HUP INT TERM; setsid sleep 301 & sleep 302 & echo up; wait',
      atTerminal,
    );
    await shows(id, 'up');
    const { end } = await here.worker.stop(id, { signal: 'SIGINT', graceMs: 100 });
    expect(end).toMatchObject({ cause: 'stopped', survivors: [] });
  });

  test('E4: loses nothing of much output, and takes much input', async () => {
    const { stdout } = await here.run('seq 1 200000', atTerminal);
    expect(stdout.length).toBe(1_488_895);
    const id = await here.start('stty raw -echo; echo up; head -c 300000 | wc -c', atTerminal);
    await shows(id, 'up');
    await type(id, 'x'.repeat(300_000));
    await shows(id, '300000');
  });

  test('is seen waiting for input, also when it asks through /dev/tty', async () => {
    for (const script of ['read -r x', 'read -r x </dev/tty', 'exec bash --norc -i', 'exec python3 -q']) {
      const id = await here.start(`echo up; ${script}`, atTerminal);
      await shows(id, 'up');
      await expect
        .poll(async () => (await here.worker.observe(id)).awaitingInput, { timeout: 15_000 })
        .toBe(true);
      await here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
    }
    const busy = await here.start('echo up; sleep 300', atTerminal);
    await shows(busy, 'up');
    expect(await here.worker.observe(busy)).toEqual({ awaitingInput: false, listening: [] });
  });

  test('runs a program without a shell, and says when there is none', async () => {
    const ran = await here.run('', { ...atTerminal, command: { kind: 'argv', argv: ['stty', 'size'] } });
    expect(ran.stdout).toBe('24 80\r\n');
    const missing = { ...atTerminal, command: { kind: 'argv', argv: ['no-such-program'] } } as const;
    await expect(here.start('', missing)).rejects.toMatchObject({ code: 'program_not_found' });
  });

  test('runs a script of any length that the level can carry', async () => {
    const long = `echo ${'x'.repeat(90_000)} | wc -c`;
    expect((await here.run(long, atTerminal)).stdout).toBe('90001\r\n');
    const longer = here.run(`: ${'x'.repeat(200_000)}; echo ran`, atTerminal);
    if (level === 'group') await expect(longer).rejects.toMatchObject({ code: 'invalid_request' });
    else expect((await longer).stdout).toBe('ran\r\n');
  });

  test('E5: gets nothing of another command, and nobody gets anything of it', async () => {
    const first = await here.start('echo up; sleep 300', atTerminal);
    await shows(first, 'up');
    const list = 'readlink /proc/$$/fd/* | grep -c ptmx';
    expect((await here.run(list, atTerminal)).stdout).toBe('0\r\n');
    expect((await here.run(list)).stdout).toBe('0\n');
  });

  test('is bound to its limits', async () => {
    const { stdout } = await here.run('ulimit -t', { ...atTerminal, limits: { cpuSeconds: 77 } });
    expect(stdout).toBe('77\r\n');
  });
});

test('T9: a terminal in a sandbox works, and what is outside of it cannot be written', async () => {
  for (const sandbox of ['workspace', 'strict'] as const) {
    const here = createTestWorker({ highestLevel: 'namespace', sandbox });
    const cwd = join(here.folder, 'work');
    mkdirSync(cwd);
    const script = 'stty size; touch inside && touch /etc/outside; echo again >/dev/tty';
    const { stdout } = await here.run(script, { ...atTerminal, cwd });
    expect(stdout).toMatch(/^24 80\r\n[\s\S]*Read-only file system\r\nagain\r\n$/);
    await here.close();
  }
});

test('T9: a terminal under a list that the kernel holds runs what is listed and nothing else', async () => {
  const here = createTestWorker({ highestLevel: 'namespace', exec: 'enforce', execAllow: ['stty'] });
  const { stdout, state } = await here.run('stty size; touch never; setsid true', atTerminal);
  expect(stdout).toMatch(/^24 80\r\n.*touch: Permission denied\r\n.*setsid: Permission denied\r\n$/);
  expect(state.end?.exitCode).toBe(126);
  await here.close();
});

test('T9: a pipe is interrupted by the signal itself', async () => {
  const here = createTestWorker();
  const id = await here.start('trap "echo caught; exit 9" INT; echo up; while :; do sleep 0.05; done');
  await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
  await here.worker.interrupt(id);
  expect((await here.worker.wait(id, 10_000)).end).toMatchObject({ exitCode: 9 });
  await here.worker.interrupt(id);
  await expect(here.worker.resize(id, terminal)).rejects.toMatchObject({ code: 'invalid_request' });
  await here.close();
});

test('T9: without its package a terminal is an error that names it', async () => {
  const missing = async () => {
    throw new Error('Cannot find package');
  };
  await expect(loadPty(missing)).rejects.toMatchObject({
    message: expect.stringContaining('@lydell/node-pty'),
  });
  for (const highestLevel of ['group', 'namespace'] as const) {
    const here = createTestWorker({ highestLevel, loadPty: missing });
    await expect(here.start('true', atTerminal)).rejects.toMatchObject({
      code: 'resources_unavailable',
      hint: expect.stringContaining('npm install @lydell/node-pty'),
    });
    await here.close();
  }
  expect(ptyHelper('linux')).toBe('');
});
