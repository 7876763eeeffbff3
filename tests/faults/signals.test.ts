// Kills or stops each of nacre's own processes at each moment of a command. Then the command has its own end or a lost one,
// nothing of it survives, the next command works, and the worker closes in time.
import { describe, expect, test } from 'vitest';
import type { JobSpec, JobState } from '../../src/contract/job.ts';
import { createStopwatch, sleep } from '../../src/support/timing.ts';
import {
  findHelper,
  findWaitingSupervisor,
  type Helper,
  helpers,
  processesOf,
} from '../support/helper-processes.ts';
import { processesWith } from '../support/processes.ts';
import { isSoak } from '../support/soak.ts';
import { createTestWorker, type TestWorker } from '../support/worker.ts';

const signals = ['SIGKILL', 'SIGSTOP'] as const;
const moments = ['idle', 'starting', 'running', 'ending', 'session', 'terminal'] as const;
type Moment = (typeof moments)[number];
type Fault = readonly [helper: Helper, signal: (typeof signals)[number], moment: Moment];

const all: readonly Fault[] = helpers.flatMap((helper) =>
  signals.flatMap((signal) => moments.map((moment) => [helper, signal, moment] as const)),
);
// Every helper, signal and moment once; the whole table takes minutes.
const everyday: readonly Fault[] = [
  ['fork server', 'SIGKILL', 'running'],
  ['fork server', 'SIGKILL', 'starting'],
  ['fork server', 'SIGSTOP', 'idle'],
  ['supervisor', 'SIGKILL', 'session'],
  ['supervisor', 'SIGSTOP', 'ending'],
  ['init', 'SIGKILL', 'terminal'],
  ['keeper', 'SIGSTOP', 'running'],
  ['keeper', 'SIGKILL', 'idle'],
  ['shell', 'SIGKILL', 'idle'],
  ['shell', 'SIGSTOP', 'idle'],
];

const endMs = 15_000;
let labels = 0;

describe.concurrent('a helper process that fails', () => {
  test.each(isSoak ? all : everyday)(
    '%s gets %s: %s',
    { timeout: 60_000 },
    async (helper, signal, moment) => {
      const here = createTestWorker({ highestLevel: 'namespace', supervisionRequire: 'namespace' });
      const label = `77${process.pid}.${labels++}`;
      try {
        await here.run('true');
        const state = await runWithFault(here, label, [helper, signal, moment]);
        expectTruth(state, moment);
        expect(processesWith(`sleep\0${label}`)).toEqual([]);
        expect(await here.run('echo next')).toMatchObject({
          stdout: 'next\n',
          state: { status: 'completed' },
        });
      } finally {
        const elapsed = createStopwatch();
        await here.close();
        expect(elapsed()).toBeLessThan(endMs);
      }
      await waitFor(() => remaining(here).length === 0 || undefined);
      expect(remaining(here)).toEqual([]);
    },
  );
});

// The folder of the worker is gone once it is closed, and its processes are found by their command line.
function remaining(here: TestWorker): readonly number[] {
  try {
    return processesOf(here);
  } catch {
    return processesWith(here.folder);
  }
}

async function runWithFault(
  here: TestWorker,
  label: string,
  [helper, signal, moment]: Fault,
): Promise<JobState> {
  const fault = (supervisor: number) => {
    const pid = findHelper(here, helper, supervisor);
    if (pid !== undefined) process.kill(pid, signal);
  };
  if (moment === 'idle') {
    fault((await waitFor(() => findWaitingSupervisor(here))) ?? 0);
    // A command that finds its shell dead before the worker knows it is lost, which is true; the next one is not.
    await here.run('true', { timeoutMs: 8_000 });
    return (await here.run('echo done')).state;
  }
  const specs: Partial<Record<Moment, Partial<JobSpec>>> = {
    session: { session: 'one' },
    terminal: { terminal: { cols: 80, rows: 24 }, stdin: 'open' },
  };
  const script = `echo up; sleep ${label} & sleep 0.5; kill $! 2>/dev/null; wait; echo done`;
  const starting = here.start(script, { ...specs[moment], timeoutMs: 10_000 });
  if (moment === 'starting') fault((await waitFor(() => findWaitingSupervisor(here))) ?? 0);
  const id = await starting;
  if (moment !== 'starting') await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
  const { pid } = await here.worker.wait(id, 0);
  if (moment === 'ending') {
    const stopping = here.worker.stop(id, { signal: 'SIGTERM', graceMs: 200 });
    fault(pid ?? 0);
    return stopping;
  }
  if (moment !== 'starting') fault(pid ?? 0);
  return here.worker.wait(id, endMs);
}

async function waitFor<T>(find: () => T | undefined): Promise<T | undefined> {
  const elapsed = createStopwatch();
  while (elapsed() < 5_000) {
    const found = find();
    if (found !== undefined) return found;
    await sleep(2);
  }
  return undefined;
}

// The shell is the command's own process: its death by SIGKILL is the command's own end.
function expectTruth({ status, end }: JobState, moment: Moment): void {
  expect(end).not.toBeNull();
  expect(end?.survivors).toEqual([]);
  if (moment === 'ending') expect(end?.cause).toBe('stopped');
  else if (end?.cause === 'supervision_lost') expect(end).toMatchObject({ exitCode: null, signal: null });
  else if (end?.cause === 'exit') expect([0, 137]).toContain(end.exitCode);
  else expect(status).toBe('timeout');
}
