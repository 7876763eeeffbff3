import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processesWith, zombieChildren } from '../../tests/support/processes.ts';
import { createTestWorker, type TestWorker } from '../../tests/support/worker.ts';
import { sleep } from '../support/sleep.ts';

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
  test('E1: is that of its process, although the timeout passes while what it left is being ended', async () => {
    const script = 'trap "" TERM; sleep 30 & sleep 0.2';
    const id = await here.start(script, { env: env(), timeoutMs: 300 });
    const state = await here.worker.wait(id, 5_000);
    expect(state).toMatchObject({ status: 'completed', end: { cause: 'exit', exitCode: 0 } });
    expect(state.end?.leftRunning).toHaveLength(1);
    await sleep(150);
    expect((await here.worker.wait(id, 0)).status).toBe('completed');
  });

  test('E3: tells that output was over the limit also when that came to light at the very end', async () => {
    await fresh({ spoolBytes: 50_000 });
    const late = '(trap "" TERM; sleep 0.12; head -c 60000 /dev/zero; sleep 30) & exit 4';
    const { state, stdout } = await here.run(late, { env: env() });
    expect(state).toMatchObject({
      status: 'killed',
      end: { cause: 'output_limit', exitCode: 4, detail: expect.stringContaining('50000') },
    });
    expect(stdout).toHaveLength(50_000);
  });

  test('E2: can be asked for before the process runs, and nothing runs on', async () => {
    const id = 'cmd_early';
    const starting = here.start('sleep 40', { id, env: env() });
    await sleep(0);
    const state = await here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
    await starting;
    expect(state).toMatchObject({ status: 'killed', end: { cause: 'stopped', signal: 'SIGKILL' } });
    expect(processesWith(mark)).toEqual([]);
  });

  test('stays as it is when a command that could not be executed is stopped', async () => {
    const command = { kind: 'argv', argv: [here.folder] } as const;
    const { state } = await here.run('', { command });
    expect(await here.worker.stop(state.id, { signal: 'SIGTERM', graceMs: 0 })).toEqual(state);
  });

  test('E2: comes for a chain of processes that each start the next and exit', async () => {
    const chain = `exec perl -e 'while (-d $ENV{GO}) { exit if fork }'`;
    for (let round = 0; round < 3; round += 1) {
      const { state } = await here.run(chain, { env: { ...env(), GO: here.folder } });
      expect(state.end).toMatchObject({ cause: 'exit', survivors: [] });
    }
    for (let look = 0; look < 10; look += 1) expect(processesWith(mark)).toEqual([]);
  });

  test('E1: does not wait for a survivor that writes without end', async () => {
    const { state, stdout } = await here.run('yes & yes >&2 & echo first', { env: env() });
    expect(stdout).toContain('first\n');
    expect(state.durationMs).toBeLessThan(3_000);
    expect(state.end?.leftRunning.map(({ command }) => command)).toEqual(['yes', 'yes']);
  });

  test('E1: does not lose what a survivor wrote while it was waited for', async () => {
    const { stdout } = await here.run('(sleep 0.05; echo late) & echo early', { env: env() });
    expect(stdout).toBe('early\nlate\n');
  });
});

describe('a read', () => {
  test.each([-1, 0.5, Number.NaN, 4, Number.POSITIVE_INFINITY])(
    'from %d, which is no position of the output, is an invalid request',
    async (cursor) => {
      const { state } = await here.run('printf abc');
      const read = here.worker.read(state.id, cursor, { waitMs: 0, maxBytes: 10 });
      await expect(read).rejects.toMatchObject({ code: 'invalid_request' });
    },
  );

  test('of a job that is disposed of meanwhile is told that there is none', async () => {
    await fresh({ ringBytes: 4_096 });
    const { state } = await here.run('head -c 5000000 /dev/zero');
    const reading = here.worker.read(state.id, 0, { waitMs: 0, maxBytes: 5_000_000 });
    await Promise.all([
      expect(reading).rejects.toMatchObject({ code: 'job_not_found' }),
      here.worker.dispose(state.id),
    ]);
  });

  test('E4: of 100 MiB without a line end gives every byte back', async () => {
    await fresh({ ringBytes: 65_536 });
    const id = await here.start("head -c 104857600 /dev/zero | tr '\\0' z");
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
    expect(at).toBe(104_857_600);
  });
});

describe('input', () => {
  test('E2: that nobody reads does not keep a command from ending', async () => {
    const id = await here.start('sleep 0.1', { stdin: 'open' });
    const writing = here.worker.write(id, Buffer.alloc(3_000_000), { eof: true });
    const state = await here.worker.wait(id, 5_000);
    await writing;
    expect(state.status).toBe('completed');
  });

  test('can come in pieces, and an empty piece only ends it', async () => {
    const id = await here.start('cat', { stdin: 'open' });
    await here.worker.write(id, Buffer.from('one '));
    await here.worker.write(id, Buffer.from('two'));
    await here.worker.write(id, Buffer.alloc(0), { eof: true });
    await here.worker.wait(id, 5_000);
    expect((await here.output(id)).stdout).toBe('one two');
  });

  test('for a command that takes none is refused', async () => {
    const id = await here.start('sleep 0.2');
    await expect(here.worker.write(id, Buffer.from('x'))).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

describe('two workers on one state directory', () => {
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
  test('makes nothing any more once it is closed', async () => {
    await here.worker.close();
    await expect(here.worker.inspect({ cwd: undefined, roots: [], programs: [] })).rejects.toMatchObject({
      code: 'shutting_down',
    });
    expect(existsSync(join(here.folder, 'state'))).toBe(false);
  });

  test('leaves no folder behind when bash is missing, however often it is asked', async () => {
    await fresh({ bash: '/nowhere/bash' });
    for (const attempt of [here.start('true'), here.worker.report()]) {
      await expect(attempt).rejects.toMatchObject({ code: 'resources_unavailable' });
    }
    expect(existsSync(join(here.folder, 'state'))).toBe(false);
  });
});
