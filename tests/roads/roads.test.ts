// The contract of a backend on every road to a worker. NACRE_TEST_ROAD=json runs the tests of src/engine on that road.
import { statSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { JobSpec } from '../../src/contract/job.ts';
import { createStopwatch } from '../../src/support/timing.ts';
import { createTestEngine } from '../support/engine.ts';
import { readAll } from '../support/read-all.ts';
import { createRoadBackend, type RoadName, roadNames } from '../support/roads.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workerOptionsIn } from '../support/worker-options.ts';

const open = (road: RoadName) => {
  const folder = temporaryFolder();
  const backend = createRoadBackend(workerOptionsIn(folder), folder, road);
  onTestFinished(() => backend.close());
  let count = 0;
  const start = async (script: string, more: Partial<JobSpec> = {}) => {
    count += 1;
    const id = `job-${count}`;
    const command = { kind: 'shell', script } as const;
    await backend.prepare({ id, command, cwd: folder, env: {}, stdin: 'empty', timeoutMs: null, ...more });
    await backend.start(id);
    return id;
  };
  return { backend, folder, start };
};

describe.each(roadNames)('the road %s', (road) => {
  test('carries output of both streams, the exit code and the digests', async () => {
    const { backend, start } = open(road);
    const id = await start('echo out; echo err >&2; exit 7');
    expect(await readAll(backend, id)).toEqual({ stdout: 'out\n', stderr: 'err\n' });
    const state = await backend.wait(id, 20_000);
    expect(state).toMatchObject({ status: 'failed', stdoutBytes: 4, stderrBytes: 4, end: { exitCode: 7 } });
    expect(state.digests?.stdout).toMatch(/^[0-9a-f]{64}$/);
    await backend.dispose(id);
    await expect(backend.wait(id, 0)).rejects.toMatchObject({ code: 'job_not_found' });
  });

  test('carries more output than any window, in order and once', async () => {
    const { backend, start } = open(road);
    const id = await start('seq 1 1500000');
    const { stdout } = await readAll(backend, id);
    expect(stdout.length).toBe(10_888_896);
    expect(stdout.slice(-8)).toBe('1500000\n');
    expect(stdout.split('\n').findIndex((line, index) => line !== String(index + 1))).toBe(1_500_000);
    const middle = await backend.read(id, 5_000_000, { waitMs: 0, maxBytes: 10 });
    expect(Buffer.from(middle.chunks[0]?.data ?? []).toString()).toBe(stdout.slice(5_000_000, 5_000_010));
  });

  test('writes to stdin, in order, and reports who waits for input', async () => {
    const { backend, start } = open(road);
    const id = await start('read one; read two; echo "$two $one"', { stdin: 'open' });
    await expect.poll(() => backend.awaitsInput(id), { timeout: 15_000 }).toBe(true);
    await backend.write(id, Buffer.from('a\n'));
    await backend.write(id, Buffer.from('b\n'), { eof: true });
    expect(await readAll(backend, id)).toMatchObject({ stdout: 'b a\n' });
  });

  test('starts one id once, and reports why a program cannot start', async () => {
    const { backend, start, folder } = open(road);
    const id = await start('echo once >> file; sleep 60');
    await backend.start(id);
    await expect.poll(() => statSync(`${folder}/file`, { throwIfNoEntry: false })?.size).toBe(5);
    expect((await backend.stop(id, { signal: 'SIGKILL', graceMs: 0 })).status).toBe('killed');
    const missing = { kind: 'argv', argv: ['no-such-program'] } as const;
    await expect(start('', { command: missing })).rejects.toMatchObject({ code: 'program_not_found' });
    expect(await readAll(backend, await start(`cat ${folder}/file`))).toMatchObject({ stdout: 'once\n' });
  });

  test('keeps the state of a persistent shell, and sends it only when it has changed', async () => {
    const { backend, start } = open(road);
    const session = 'me/main';
    await readAll(backend, await start('cd /; x=1; f() { echo "f $x"; }', { session }));
    const query = { cwd: undefined, roots: [], programs: [], session };
    expect((await backend.inspect(query)).session).toMatchObject({ cwd: '/', variables: { x: '1' } });
    expect((await backend.inspect(query)).session?.functions).toHaveProperty('f');
    expect(await readAll(backend, await start('f; pwd', { session, cwd: '/' }))).toMatchObject({
      stdout: 'f 1\n/\n',
    });
    expect(await backend.listSessions()).toMatchObject([{ key: session, cwd: '/' }]);
    expect(await backend.closeSession(session)).toEqual({ survivors: [] });
    expect(await backend.closeSession(session)).toBeNull();
  });
});

// The machine may be busy, so the fastest of some runs counts.
test('a command needs two round trips, and a prompt at a terminal not many more', {
  timeout: 60_000,
}, async () => {
  const here = createTestEngine({ road: 'json-100' });
  onTestFinished(() => here.close());
  await here.run('true');
  const fastest = async (step: () => Promise<unknown>, enoughMs: number) => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 40 && best >= enoughMs; round += 1) {
      const elapsed = createStopwatch();
      await step();
      best = Math.min(best, elapsed());
    }
    return best;
  };
  expect(await fastest(() => here.run('echo a b'), 250)).toBeLessThan(250);
  const context = { caller: { door: 'cli', client: 'test' }, owner: 'tester' } as const;
  const query = {
    waitMs: 10_000,
    untilInput: true,
    keep: 'beginning',
    view: 'raw',
    maxChars: 1_000,
  } as const;
  const prompted: string[] = [];
  const prompt = async () => {
    const id = await here.start('read -p "name? " x', { terminal: { cols: 80, rows: 24 } });
    const reading = await here.engine.read(id, { ...query, howToReadOn: () => '' }, context);
    expect(reading.wakeReason).toBe('awaiting_input');
    prompted.push(id);
  };
  expect(await fastest(prompt, 350)).toBeLessThan(350);
  for (const id of prompted) await here.engine.stop(id, { signal: 'SIGKILL', graceMs: 0 }, context);
});
