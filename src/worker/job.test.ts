import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processesWith, zombieChildren } from '../../tests/support/processes.ts';
import { soakCount } from '../../tests/support/soak.ts';
import { createTestWorker, type TestWorker } from '../../tests/support/worker.ts';
import { sleep } from '../support/timing.ts';

let here: TestWorker;
let mark = '';
beforeEach(() => {
  here = createTestWorker();
  mark = `mark${Math.random()}`;
});
afterEach(async () => {
  await here.close();
  await expect.poll(() => processesWith(mark)).toEqual([]);
  await expect.poll(() => zombieChildren()).toEqual([]);
});
const fresh = async (options: Parameters<typeof createTestWorker>[0]) => {
  await here.close();
  here = createTestWorker(options);
};
const env = () => ({ TEST_MARK: mark });

describe('the end of a job', () => {
  test('E1: is the end of its process, even if the timeout passes while background processes are being ended', async () => {
    const script = 'trap "" TERM; sleep 30 & sleep 0.2';
    const id = await here.start(script, { env: env(), timeoutMs: 300 });
    const state = await here.worker.wait(id, 5_000);
    expect(state).toMatchObject({ status: 'completed', end: { cause: 'exit', exitCode: 0 } });
    expect(state.end?.leftRunning).toHaveLength(1);
    await sleep(150);
    expect((await here.worker.wait(id, 0)).status).toBe('completed');
  });

  test('E3: reports the output limit even if a background process exceeds it after the exit', async () => {
    await fresh({ spoolBytes: 50_000 });
    const late = '(trap "" TERM; sleep 0.12; head -c 60000 /dev/zero; sleep 30) & exit 4';
    const { state, stdout } = await here.run(late, { env: env() });
    expect(state).toMatchObject({
      status: 'killed',
      end: { cause: 'output_limit', exitCode: 4, detail: expect.stringContaining('50000') },
    });
    expect(stdout).toHaveLength(50_000);
  });

  test('E2: can be requested before the process runs, and nothing keeps running', async () => {
    const id = 'cmd_early';
    const command = { kind: 'shell', script: 'sleep 40' } as const;
    await here.worker.prepare({ id, command, cwd: here.folder, env: env(), stdin: 'empty', timeoutMs: null });
    const starting = here.worker.start(id);
    await sleep(0);
    const state = await here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
    await starting;
    expect(state).toMatchObject({ status: 'killed', end: { cause: 'stopped', signal: 'SIGKILL' } });
    expect(processesWith(mark)).toEqual([]);
  });

  test('does not change when a command that could not be executed is stopped', async () => {
    const command = { kind: 'argv', argv: [here.folder] } as const;
    const { state } = await here.run('', { command });
    expect(await here.worker.stop(state.id, { signal: 'SIGTERM', graceMs: 0 })).toEqual(state);
  });

  test('E2: is reached for a chain of processes that each start the next and exit', async () => {
    const chain = `exec perl -e 'while (-d $ENV{GO}) { exit if fork }'`;
    for (let round = 0; round < 3; round += 1) {
      const { state } = await here.run(chain, { env: { ...env(), GO: here.folder } });
      expect(state.end).toMatchObject({ cause: 'exit', survivors: [] });
    }
    for (let look = 0; look < 10; look += 1) expect(processesWith(mark)).toEqual([]);
  });

  test('E1: does not wait for a background process that writes without end', async () => {
    // They write only when the command ends: on a slow machine they would fill the spool before.
    const write = `perl -e 'kill STOP, $$; 1 while syswrite STDOUT, "y\\n" x 4096'`;
    const untilStopped =
      'for pid in $(jobs -p); do until grep -q "^State:.T" /proc/$pid/status; do sleep 0.01; done; done';
    const script = `${write} & ${write} >&2 & ${untilStopped}; echo first; kill -CONT $(jobs -p)`;
    const { state, stdout } = await here.run(script, { env: env() });
    expect(stdout).toMatch(/^first\n/);
    expect(state.end).toMatchObject({ cause: 'exit', exitCode: 0, survivors: [] });
    const left = state.end?.leftRunning.map(({ command }) => command) ?? [];
    expect(left).toEqual([expect.stringContaining('syswrite'), expect.stringContaining('syswrite')]);
  });

  test('E1: includes what a background process writes within drainMs', async () => {
    await fresh({ drainMs: 30_000 });
    const { stdout } = await here.run('(sleep 0.05; echo late) & echo early', { env: env() });
    expect(stdout).toBe('early\nlate\n');
  });
});

describe('a read', () => {
  test.each([-1, 0.5, Number.NaN, 4, Number.POSITIVE_INFINITY])(
    'from %d, which is not a position in the output, is an invalid request',
    async (cursor) => {
      const { state } = await here.run('printf abc');
      const read = here.worker.read(state.id, cursor, { waitMs: 0, maxBytes: 10 });
      await expect(read).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );

  test('of a job that is disposed of during the read fails with job_not_found', async () => {
    await fresh({ ringBytes: 4_096 });
    const { state } = await here.run('head -c 5000000 /dev/zero');
    const reading = here.worker.read(state.id, 0, { waitMs: 0, maxBytes: 5_000_000 });
    await Promise.all([
      expect(reading).rejects.toMatchObject({ code: 'job_not_found' }),
      here.worker.dispose(state.id),
    ]);
  });

  test('E4: of many MiB without a line end returns every byte', async () => {
    await fresh({ ringBytes: 65_536 });
    const size = soakCount(104_857_600, 20_971_520);
    const id = await here.start(`head -c ${size} /dev/zero | tr '\\0' z`);
    const expected = Buffer.alloc(1_048_576, 'z');
    let at = 0;
    for (;;) {
      const { chunks, next, end, final } = await here.worker.read(id, at, {
        waitMs: 5_000,
        maxBytes: 1_000_003,
      });
      for (const { data } of chunks) expect(expected.subarray(0, data.length).equals(data)).toBe(true);
      at = next;
      if (final && next === end) break;
    }
    expect(at).toBe(size);
  });
});

describe('input', () => {
  test('E2: that is never read does not prevent a command from ending', async () => {
    const id = await here.start('sleep 0.1', { stdin: 'open' });
    const writing = here.worker.write(id, Buffer.alloc(3_000_000), { eof: true });
    const state = await here.worker.wait(id, 5_000);
    await writing;
    expect(state.status).toBe('completed');
  });

  test('can be written in pieces, and an empty write with eof only ends it', async () => {
    const id = await here.start('cat', { stdin: 'open' });
    await here.worker.write(id, Buffer.from('one '));
    await here.worker.write(id, Buffer.from('two'));
    await here.worker.write(id, Buffer.alloc(0), { eof: true });
    await here.worker.wait(id, 5_000);
    expect((await here.output(id)).stdout).toBe('one two');
  });

  test('to a command without an open stdin is refused', async () => {
    const id = await here.start('sleep 0.2');
    await expect(here.worker.write(id, Buffer.from('x'))).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('two workers on one state folder', () => {
  test('do not disturb each other', async () => {
    const stateDir = join(here.folder, 'state');
    const other = createTestWorker({ stateDir });
    const [first, second] = await Promise.all([here.run('echo a'), other.run('echo b')]);
    expect([first.stdout, second.stdout]).toEqual(['a\n', 'b\n']);
    const { folder } = await here.worker.report();
    await other.close();
    expect(existsSync(folder)).toBe(true);
    expect((await here.run('echo still')).stdout).toBe('still\n');
  });
});

describe('a worker', () => {
  test('creates nothing after it is closed', async () => {
    await here.worker.close();
    await expect(here.worker.inspect({ cwd: undefined, roots: [], programs: [] })).rejects.toMatchObject({
      code: 'shutting_down',
    });
    expect(existsSync(join(here.folder, 'state'))).toBe(false);
  });

  test('leaves no folder behind if bash is missing, even after several attempts', async () => {
    await fresh({ bash: '/nowhere/bash' });
    for (const attempt of [here.start('true'), here.worker.report()]) {
      await expect(attempt).rejects.toMatchObject({ code: 'resources_unavailable' });
    }
    expect(existsSync(join(here.folder, 'state'))).toBe(false);
  });
});
