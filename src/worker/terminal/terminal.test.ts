import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { execAllowOf } from '../../../tests/support/exec-list.ts';
import { needLandlock, needLevel, needPrograms, needPty } from '../../../tests/support/needs.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { type SupervisionLevel, supervisionLevels } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import { loadPty, ptyHelper } from './load-pty.ts';

const terminal = { cols: 80, rows: 24 };
const atTerminal: Partial<JobSpec> = { terminal, stdin: 'open' };

let here: TestWorker;
const type = (id: string, text: string) => here.worker.write(id, Buffer.from(text));
const shows = (id: string, text: string | RegExp) =>
  expect.poll(async () => (await here.output(id)).stdout, { timeout: 15_000 }).toMatch(text);
const exitOf = async (id: string) => (await here.worker.wait(id, 15_000)).end;
const kill = (id: string) => here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });

/** Runs the tests of a describe block with one worker at this level. */
function useLevel(level: SupervisionLevel): void {
  beforeAll(() => {
    here = createTestWorker({ highestLevel: level, supervisionRequire: level });
  });
  beforeEach(async (context) => {
    await needLevel(context, level);
    await needPty(context);
  });
  afterAll(() => here.close());
}

describe.each(supervisionLevels)('T9: a command at a terminal, at level %s', (level) => {
  useLevel(level);

  test('is interrupted by Ctrl-C, and its supervision is not', async () => {
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

  test('has its resource limits', async () => {
    const { stdout } = await here.run('ulimit -t', { ...atTerminal, limits: { cpuSeconds: 77 } });
    expect(stdout).toBe('77\r\n');
  });
});

// Levels `unshare` and `namespace` start a command at a terminal in the same way.
describe.each(['group', 'namespace'] as const)('T9: a command at a terminal (%s)', (level) => {
  useLevel(level);

  test('has a terminal of the requested size as stdin, stdout and stderr', async () => {
    const script = '[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && stty size && echo "$TERM:$PAGER" >/dev/tty; exit 5';
    const { state, stdout, stderr } = await here.run(script, {
      ...atTerminal,
      terminal: { cols: 132, rows: 43 },
    });
    expect(stdout).toBe('43 132\r\nxterm-256color:\r\n');
    expect(stderr).toBe('');
    expect(state.end).toMatchObject({ exitCode: 5, leftRunning: [], survivors: [] });
  });

  test('reads typed input, gets a new size, and ends with Ctrl-D', async () => {
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

  test('E4: loses no output, and accepts much input', async () => {
    const { stdout } = await here.run('seq 1 200000', atTerminal);
    expect(stdout.length).toBe(1_488_895);
    const id = await here.start('stty raw -echo; echo up; head -c 300000 | wc -c', atTerminal);
    await shows(id, 'up');
    await type(id, 'x'.repeat(300_000));
    await shows(id, '300000');
  });

  test('is detected as waiting for input, even when it reads /dev/tty', async (context) => {
    needPrograms(context, 'python3');
    for (const script of ['read -r x', 'read -r x </dev/tty', 'exec bash --norc -i', 'exec python3 -q']) {
      const id = await here.start(`echo up; ${script}`, atTerminal);
      await shows(id, 'up');
      await expect
        .poll(async () => (await here.worker.observe(id)).awaitingInput, { timeout: 15_000 })
        .toBe(true);
      await kill(id);
    }
    const busy = await here.start('echo up; sleep 300', atTerminal);
    await shows(busy, 'up');
    expect(await here.worker.observe(busy)).toEqual({ awaitingInput: false, listening: [] });
    await kill(busy);
  });

  test('runs a program without a shell, and reports a missing one', async () => {
    const ran = await here.run('', { ...atTerminal, command: { kind: 'argv', argv: ['stty', 'size'] } });
    expect(ran.stdout).toBe('24 80\r\n');
    const missing = { ...atTerminal, command: { kind: 'argv', argv: ['no-such-program'] } } as const;
    await expect(here.start('', missing)).rejects.toMatchObject({ code: 'program_not_found' });
  });

  test('runs a long script, up to the limit of the level', async () => {
    const long = `echo ${'x'.repeat(90_000)} | wc -c`;
    expect((await here.run(long, atTerminal)).stdout).toBe('90001\r\n');
    const longer = here.run(`: ${'x'.repeat(200_000)}; echo ran`, atTerminal);
    if (level === 'group') await expect(longer).rejects.toMatchObject({ code: 'invalid_request' });
    else expect((await longer).stdout).toBe('ran\r\n');
  });

  test('E5: shares no descriptor with another command', async () => {
    const first = await here.start('echo up; sleep 300', atTerminal);
    await shows(first, 'up');
    const list = 'readlink /proc/$$/fd/* | grep -c ptmx';
    expect((await here.run(list, atTerminal)).stdout).toBe('0\r\n');
    expect((await here.run(list)).stdout).toBe('0\n');
    await kill(first);
  });
});

test('T9: a terminal works in a sandbox, and files outside of it are read-only', async (context) => {
  await needLevel(context, 'namespace');
  await needPty(context);
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

test('T9: a terminal with `exec: enforce` runs listed programs only', async (context) => {
  await needLevel(context, 'namespace');
  await needPty(context);
  await needLandlock(context);
  const here = createTestWorker({
    highestLevel: 'namespace',
    exec: 'enforce',
    execAllow: execAllowOf(['stty']),
  });
  const { stdout, state } = await here.run('stty size; touch never; setsid true', atTerminal);
  expect(stdout).toMatch(/^24 80\r\n.*touch: Permission denied\r\n.*setsid: Permission denied\r\n$/);
  expect(state.end?.exitCode).toBe(126);
  await here.close();
});

test('T9: a command without a terminal is interrupted by SIGINT', async () => {
  const here = createTestWorker();
  const id = await here.start('trap "echo caught; exit 9" INT; echo up; while :; do sleep 0.05; done');
  await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
  await here.worker.interrupt(id);
  expect((await here.worker.wait(id, 10_000)).end).toMatchObject({ exitCode: 9 });
  await here.worker.interrupt(id);
  await expect(here.worker.resize(id, terminal)).rejects.toMatchObject({ code: 'invalid_request' });
  await here.close();
});

test('T9: without the package for terminals, the error names that package', async () => {
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
