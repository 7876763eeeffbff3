// Streams that break: what runs goes on, what may have run is not started again, and nothing is guessed.
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Duplex, PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { NacreError } from '../../src/contract/failure.ts';
import { createDeferred, createStopwatch } from '../../src/support/timing.ts';
import { createBrokenRoad } from '../support/broken-road.ts';
import { readAll } from '../support/read-all.ts';
import { toRemote } from '../support/roads.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workerOptionsIn } from '../support/worker-options.ts';

const slow = { timeout: 60_000 };
const patient = { timeout: 30_000, interval: 20 };
const count = 'for i in $(seq 1 100); do echo $i; sleep 0.02; done; exit 7';
const numbers = Array.from({ length: 100 }, (_, index) => `${index + 1}\n`).join('');

test(
  'a command that does not outlive its server keeps running if its stream is reopened in time',
  slow,
  async () => {
    const { backend, start, cut } = createBrokenRoad();
    const id = await start(count);
    for (let round = 0; round < 5; round += 1) {
      await backend.read(id, round * 10, { waitMs: 10_000, maxBytes: 10 });
      cut();
    }
    expect(await readAll(backend, id)).toEqual({ stdout: numbers, stderr: '' });
    expect(await backend.wait(id, 20_000)).toMatchObject({ status: 'failed', end: { exitCode: 7 } });
  },
);

test('it is ended if the stream is not reopened in time, and reported as lost', slow, async () => {
  const road = createBrokenRoad({ graceMs: 200 });
  const { backend, start, folder } = road;
  const id = await start('echo $$ > pid; sleep 300');
  await expect
    .poll(() => statSync(join(folder, 'pid'), { throwIfNoEntry: false })?.size, patient)
    .toBeTruthy();
  road.refuse();
  await expect.poll(() => backend.wait(id, 0), patient).toMatchObject({ status: 'unreachable' });
  expect((await backend.wait(id, 0)).unreachableSince).toMatch(/^\d{4}-/);
  await expect.poll(() => [...road.host().jobs.keys()], patient).toEqual([]);
  road.join();
  const state = await backend.wait(id, 20_000);
  expect(state).toMatchObject({ status: 'lost', end: { cause: 'worker_lost', exitCode: null } });
  expect(state.end?.detail).toContain('the worker has ended this command');
});

test('closing the backend ends it at once', slow, async () => {
  const road = createBrokenRoad();
  await road.start('sleep 300', { session: 'me/main' });
  await road.backend.close();
  await expect.poll(() => [road.host().jobs.size, road.host().sessions.size], patient).toEqual([0, 0]);
});

test('a stream that is opened after the backend was closed is closed as well', async () => {
  const opened = createDeferred<Duplex>();
  const backend = createRemoteBackend({
    ...toRemote(workerOptionsIn(temporaryFolder())),
    road: { open: () => opened.promise },
  });
  const report = expect(backend.report()).rejects.toMatchObject({ code: 'shutting_down' });
  await backend.close();
  await report;
  const stream = new PassThrough();
  opened.resolve(stream);
  // Without an answer to `hello` it would be closed later.
  await expect.poll(() => stream.destroyed, { timeout: 5_000 }).toBe(true);
});

test('a persistent shell and the room of a connection are the same after a break', slow, async () => {
  const { backend, start, cut, host } = createBrokenRoad();
  const session = 'me/main';
  await readAll(backend, await start('x=1; sleep 300 &', { session }));
  const [before] = host().sessions;
  cut();
  expect(await readAll(backend, await start('echo "x is $x"; jobs | wc -l', { session }))).toMatchObject({
    stdout: 'x is 1\n1\n',
  });
  expect([...host().sessions].map(({ hosted }) => hosted)).toEqual([before?.hosted]);
  await backend.inspect({ cwd: undefined, roots: [], programs: [] });
  expect(new Set(host().links.flatMap((link) => link.workers()))).toEqual(new Set([before?.hosted]));
});

test('a call during an outage is answered after it, also in a later outage', slow, async () => {
  const road = createBrokenRoad({ patienceMs: 400 });
  const { backend, start } = road;
  const id = await start('sleep 300');
  for (let round = 0; round < 3; round += 1) {
    road.refuse();
    await expect(backend.report()).rejects.toMatchObject({ code: 'resources_unavailable' });
    await expect(backend.report()).rejects.toThrow('the network is down');
    const late = backend.report();
    road.join();
    expect(await late).toMatchObject({ bash: expect.anything() });
    expect(await backend.wait(id, 0)).toMatchObject({ status: 'running' });
  }
});

test('an error of the road answers the first call at once, and the next call tries again', slow, async () => {
  const road = createBrokenRoad();
  road.refuse(new NacreError('resources_unavailable', 'The key was refused.'));
  const elapsed = createStopwatch();
  await expect(road.backend.report()).rejects.toThrow('The key was refused.');
  expect(elapsed()).toBeLessThan(10_000);
  road.join();
  expect(await road.backend.report()).toMatchObject({ bash: expect.anything() });
});

test('after a break, output is pushed again as far as it is read', slow, async () => {
  const { backend, start, cut, folder } = createBrokenRoad();
  const id = await start('seq 1 600000; until [ -e go ]; do sleep 0.02; done; seq 1 600000');
  const first = 4_088_896 - 200_000;
  // Reading gives the far side credit beyond its first megabyte.
  for (let at = 0; at < first; )
    ({ next: at } = await backend.read(id, at, { waitMs: 10_000, maxBytes: 65_536 }));
  cut();
  writeFileSync(join(folder, 'go'), '');
  await backend.wait(id, 20_000);
  const elapsed = createStopwatch();
  expect((await readAll(backend, id)).stdout.length).toBe(2 * 4_088_895);
  // Without credit each read waits a second for output that is not pushed.
  expect(elapsed()).toBeLessThan(20_000);
});

test('a start is not repeated to another worker, and its command is lost', slow, async () => {
  const road = createBrokenRoad();
  const { backend, folder } = road;
  const id = await road.prepare('echo run >> runs; sleep 300');
  road.deafen();
  const starting = backend.start(id);
  // The first worker runs it, but its answer does not arrive.
  await expect.poll(() => existsSync(join(folder, 'runs')), patient).toBe(true);
  road.refuse();
  road.replaceWorker();
  road.join();
  await starting;
  const state = await backend.wait(id, 20_000);
  expect(state).toMatchObject({ status: 'lost', end: { exitCode: null } });
  expect(state.end?.detail).toContain('It is not known whether it ran');
  await expect.poll(() => [...road.host().jobs.keys()], patient).toEqual([]);
  expect(readFileSync(join(folder, 'runs'), 'utf8')).toBe('run\n');
  expect(await readAll(backend, await road.start('echo next'))).toMatchObject({ stdout: 'next\n' });
});

test(
  'a command whose start is not answered in time may run, so it is unreachable until its state is known',
  slow,
  async () => {
    const road = createBrokenRoad({ patienceMs: 200 });
    const { backend, folder } = road;
    const id = await road.prepare('echo once | tee runs; sleep 0.5; exit 3');
    road.deafen();
    const starting = backend.start(id);
    await expect.poll(() => existsSync(join(folder, 'runs')), patient).toBe(true);
    road.refuse();
    await starting;
    expect(await backend.wait(id, 0)).toMatchObject({ status: 'unreachable', end: null });
    // It ends while no stream is open.
    await expect
      .poll(() => [...road.host().jobs.values()].every(({ job }) => job.hasEnded), patient)
      .toBe(true);
    road.join();
    expect(await backend.wait(id, 20_000)).toMatchObject({ status: 'failed', end: { exitCode: 3 } });
    expect(await readAll(backend, id)).toMatchObject({ stdout: 'once\n' });
  },
);

test('a start that never arrived is reported, and not repeated later', slow, async () => {
  const road = createBrokenRoad({ patienceMs: 200 });
  const { backend, folder } = road;
  const id = await road.prepare('echo once > runs');
  await backend.report();
  road.refuse();
  await backend.start(id).catch((error) => error);
  road.join();
  await expect.poll(() => [...road.host().jobs.keys()], patient).toEqual([]);
  expect(existsSync(join(folder, 'runs'))).toBe(false);
});

test(
  'a command that was prepared but not started runs in the worker that replaces the first',
  slow,
  async () => {
    const road = createBrokenRoad();
    const id = await road.prepare('echo here');
    await road.backend.report();
    road.replaceWorker();
    road.cut();
    await road.backend.report();
    await road.backend.start(id);
    expect(await readAll(road.backend, id)).toMatchObject({ stdout: 'here\n' });
  },
);

test('each write is executed once, however often the stream breaks', slow, async () => {
  const { backend, start, cut } = createBrokenRoad();
  const id = await start('cat', { stdin: 'open' });
  for (let line = 1; line <= 100; line += 1) {
    const written = backend.write(id, Buffer.from(`${line}\n`));
    if (line % 7 === 0) cut();
    await written;
  }
  await backend.write(id, Buffer.alloc(0), { eof: true });
  expect(await readAll(backend, id)).toMatchObject({ stdout: numbers });
});
