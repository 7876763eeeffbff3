// The fork server at level group, where every command is its child, and one whose resources are limited.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import type { JobSpec } from '../../src/contract/job.ts';
import { createStopwatch } from '../../src/support/timing.ts';
import { forkServersOf } from '../support/helper-processes.ts';
import { processesWith } from '../support/processes.ts';
import { createTestWorker, type TestWorker } from '../support/worker.ts';

let here: TestWorker;
afterEach(async () => {
  const elapsed = createStopwatch();
  await here.close();
  expect(elapsed()).toBeLessThan(8_000);
  expect(processesWith(`sleep\u00007788.${process.pid}`)).toEqual([]);
});

const specs: Readonly<Record<string, Partial<JobSpec>>> = {
  pipes: {},
  terminal: { terminal: { cols: 80, rows: 24 }, stdin: 'open' },
  session: { session: 'one' },
};

test.each(['pipes', 'terminal', 'session'])(
  'at level group, a killed fork server loses a command (%s)',
  async (kind) => {
    here = createTestWorker();
    const id = await here.start(`echo up; sleep 7788.${process.pid}`, specs[kind]);
    await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    for (const pid of forkServersOf(here)) process.kill(pid, 'SIGKILL');
    const { end } = await here.worker.wait(id, 15_000);
    expect(end).toMatchObject({ cause: 'supervision_lost', exitCode: null, signal: null, survivors: [] });
    expect(processesWith(`sleep\u00007788.${process.pid}`)).toEqual([]);
    expect(await here.run('echo next', specs[kind])).toMatchObject({ state: { status: 'completed' } });
  },
);

test('at level group, a stopped fork server is continued, and the end of a command is reported', async () => {
  here = createTestWorker();
  const id = await here.start('echo up; sleep 0.2; exit 7');
  await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
  for (const pid of forkServersOf(here)) process.kill(pid, 'SIGSTOP');
  expect((await here.worker.wait(id, 15_000)).end).toMatchObject({ cause: 'exit', exitCode: 7 });
});

const starving = { EAGAIN: '--nproc=1', EMFILE: '--nofile=3', ENOSPC: '--fsize=1', ENOMEM: '--as=1:' };
const starved = (['group', 'namespace'] as const).flatMap((level) =>
  Object.entries(starving).map(([fault, limit]) => [level, fault, limit] as const),
);
test.each(starved)(
  'at level %s, commands get a new fork server if one has a limit (%s), and running ones continue',
  async (level, _fault, limit) => {
    here = createTestWorker({ highestLevel: level, supervisionRequire: level, warmShells: 0 });
    const id = await here.start('echo up; sleep 0.5; echo done');
    await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    limitForkServer(limit);
    const usual = readFileSync('/proc/self/limits', 'utf8');
    for (let round = 0; round < 3; round += 1)
      expect(await here.run('cat /proc/self/limits')).toMatchObject({
        stdout: usual,
        state: { status: 'completed' },
      });
    expect((await here.worker.wait(id, 10_000)).end).toMatchObject({ cause: 'exit', exitCode: 0 });
  },
);

test('at level group, repeatedly replaced fork servers do not accumulate', async () => {
  here = createTestWorker();
  for (let round = 0; round < 8; round += 1) {
    expect(await here.run('echo works')).toMatchObject({ stdout: 'works\n' });
    limitForkServer(`--core=${round}:`);
  }
  await expect.poll(() => forkServersOf(here).length, { timeout: 20_000 }).toBeLessThan(7);
});

function limitForkServer(limit: string): void {
  for (const pid of forkServersOf(here)) execFileSync('prlimit', ['--pid', String(pid), limit]);
}
