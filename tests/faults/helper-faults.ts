// Kills, stops or starves one of nacre's own processes at one moment of a command.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { JobSpec, JobState } from '../../src/contract/job.ts';
import { createStopwatch, sleep } from '../../src/support/timing.ts';
import type { WorkerOptions } from '../../src/worker/worker-options.ts';
import { execAllowOf } from '../support/exec-list.ts';
import { findHelper, findWaitingKeeper, type Helper, processesOf } from '../support/helper-processes.ts';
import { processesWith } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { createTestWorker, type TestWorker } from '../support/worker.ts';

/** The faults of a process: a signal, or a system call that fails from then on. */
export const faults = ['SIGKILL', 'SIGSTOP', 'EAGAIN', 'EMFILE', 'ENOSPC', 'ENOMEM'] as const;
/** The moments of a command. */
export const moments = ['idle', 'starting', 'running', 'ending', 'session', 'terminal'] as const;

/** One row of the table. */
export type FaultCase = readonly [
  place: Place,
  helper: Helper,
  fault: (typeof faults)[number],
  moment: (typeof moments)[number],
];

/** Where commands run: each place has its own way to start a keeper. */
export type Place = keyof typeof places;

const supervised = { highestLevel: 'namespace', supervisionRequire: 'namespace' } as const;
/** The worker options of each place. */
export const places = {
  // The fork server starts the keepers.
  plain: supervised,
  // A second fork server, in the network of the room.
  room: { ...supervised, sandbox: 'workspace' },
  // Node spawns the keepers, and a bridge sends the socket of the proxy.
  filtered: { ...supervised, sandbox: 'workspace', networkAllow: ['allowed.example'] },
  // bubblewrap starts in a mount namespace with a layer over the workspace; the keepers wait in a pool of their own.
  tracked: { ...supervised, sandbox: 'workspace', changes: 'track' },
  // The fork server mounts the layer.
  layered: { ...supervised, changes: 'track' },
  // A guard restricts itself before it becomes the keeper.
  guarded: { ...supervised, exec: 'enforce', execAllow: execAllowOf(['sleep', 'true']) },
} as const satisfies Record<string, Partial<WorkerOptions>>;

// The limits that make the system calls of a process fail; ENOSPC as EFBIG, which programs handle in the same way. A limit of
// processes does not apply to root, so tests/children/starved-user.ts repeats those rows as an ordinary user.
const limits: Readonly<Record<string, string>> = {
  EAGAIN: '--nproc=1:',
  EMFILE: '--nofile=1:',
  ENOSPC: '--fsize=1:',
  ENOMEM: '--as=1:',
};

const endMs = 20_000;
let labels = 0;

/** A worker whose commands run in a place, in a folder that may have a layer. */
export function createWorkerIn(place: Place): TestWorker & { readonly cwd: string } {
  const cwd = temporaryFolder();
  return { ...createTestWorker({ ...places[place], cwd }), cwd };
}

/**
 * Runs a command with a fault: it has its own end or a lost one, nothing of it survives, and the next command works. Returns
 * whether the helper was found: not every place has each of them.
 */
export async function tryFault([place, helper, fault, moment]: FaultCase): Promise<boolean> {
  const here = createWorkerIn(place);
  const label = `77${process.pid}.${labels++}`;
  const { cwd } = here;
  let result: FaultResult;
  try {
    await here.run('true', { cwd, room: 'one' });
    result = await runWithFault(here, { label, cwd }, [place, helper, fault, moment]);
    const { state } = result;
    expectTruth(state, fault, moment);
    // Background processes of a session outlive its shell, and are reported.
    const reported = state.end?.session ? state.end.leftRunning.map(({ pid }) => pid) : [];
    const unreported = () => processesWith(`sleep\0${label}`).filter((pid) => !reported.includes(pid));
    await until(() => unreported().length === 0);
    assert.deepEqual(unreported(), []);
    await expectRecovery(here, cwd);
  } finally {
    const elapsed = createStopwatch();
    await here.close();
    assert(elapsed() < endMs, `closed after ${elapsed()} ms`);
  }
  await until(() => remaining(here).length === 0);
  assert.deepEqual(remaining(here), []);
  return result.isFound;
}

// A shell that was starved before the fault was noticed may still be the next one.
async function expectRecovery(here: TestWorker, cwd: string): Promise<void> {
  await here.run('echo next', { cwd, room: 'one', timeoutMs: 8_000 }).catch(() => undefined);
  const next = await here.run('echo next', { cwd, room: 'one' });
  assert.equal(next.stdout, 'next\n');
  assert.equal(next.state.status, 'completed');
}

// The folder of the worker is gone once it is closed, and its processes are found by their command line.
function remaining(here: TestWorker): readonly number[] {
  try {
    return processesOf(here);
  } catch {
    return processesWith(here.folder);
  }
}

interface FaultResult {
  readonly state: JobState;
  /** False if there was no process to strike. */
  readonly isFound: boolean;
}

async function runWithFault(
  here: TestWorker,
  { label, cwd }: { readonly label: string; readonly cwd: string },
  [, helper, fault, moment]: FaultCase,
): Promise<FaultResult> {
  let isFound = false;
  // Without a keeper there is nothing to strike: to the kernel, pid 0 means the process group of this test.
  const strike = (keeper: number | undefined) => {
    const pid = keeper && findHelper(here, helper, keeper);
    if (!pid) return;
    isFound = true;
    apply(fault, pid);
  };
  const spec: Partial<JobSpec> = { cwd, room: 'one' };
  if (moment === 'idle') {
    strike(await find(() => findWaitingKeeper(here)));
    // A command that finds its shell dead before the worker knows it is lost, which is true; the next one is not.
    await here.run('true', { ...spec, timeoutMs: 8_000 }).catch(() => undefined);
    return { state: (await here.run('echo done', { ...spec, timeoutMs: 10_000 })).state, isFound };
  }
  const script = `echo up; sleep ${label} & sleep 0.5; kill $! 2>/dev/null; wait; echo done`;
  const starting = here.start(script, { ...spec, ...specs[moment], timeoutMs: 10_000 });
  if (moment === 'starting') strike(await find(() => findWaitingKeeper(here)));
  const id = await starting;
  if (moment === 'starting') return { state: await here.worker.wait(id, endMs), isFound };
  await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
  const { pid } = await here.worker.wait(id, 0);
  const stopping = moment === 'ending' && here.worker.stop(id, { signal: 'SIGTERM', graceMs: 200 });
  strike(pid ?? undefined);
  return { state: await (stopping || here.worker.wait(id, endMs)), isFound };
}

const specs: Partial<Record<string, Partial<JobSpec>>> = {
  session: { session: 'one' },
  terminal: { terminal: { cols: 80, rows: 24 }, stdin: 'open' },
};

function apply(fault: FaultCase[2], pid: number): void {
  try {
    if (fault === 'SIGKILL' || fault === 'SIGSTOP') process.kill(pid, fault);
    else execFileSync('prlimit', ['--pid', String(pid), limits[fault] ?? ''], { stdio: 'ignore' });
  } catch {
    // It has ended meanwhile.
  }
}

async function until(isSo: () => boolean): Promise<void> {
  await find(() => isSo() || undefined);
}

async function find<T>(search: () => T | undefined): Promise<T | undefined> {
  const elapsed = createStopwatch();
  while (elapsed() < 5_000) {
    const found = search();
    if (found !== undefined) return found;
    await sleep(2);
  }
  return undefined;
}

// The shell is the command's own process: its death by SIGKILL is the command's own end, and so is what it does without resources.
function expectTruth({ status, end }: JobState, fault: FaultCase[2], moment: FaultCase[3]): void {
  assert(end);
  assert.deepEqual(end.survivors, []);
  const isNamed = fault === 'SIGKILL' || fault === 'SIGSTOP';
  if (moment === 'ending') assert(['stopped', 'exit'].includes(end.cause), end.cause);
  else if (end.cause === 'supervision_lost') assert.deepEqual([end.exitCode, end.signal], [null, null]);
  else if (end.cause !== 'exit') assert.equal(status, 'timeout');
  else if (isNamed) assert([0, 137].includes(end.exitCode ?? -1), `exit code ${end.exitCode}`);
}
