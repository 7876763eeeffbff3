import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { NacreError } from '../../contract/failure.ts';
import { settlesWithin, sleep } from '../../support/timing.ts';
import type { Environment } from '../machine/environment.ts';
import { continueWhileStopped } from '../processes/continue-helpers.ts';
import { connectTo, findCurrent, isWorkerAlive, readWorker, removeCurrent } from './worker-folder.ts';

/** How to find or start the detached worker of this user. */
export interface WorkerPlace {
  /** The folder of all workers. */
  readonly root: string;
  readonly build: string;
  /** dist/worker.js */
  readonly program: string;
  /** The server's environment; the worker gets only the variables that Node and its helpers need. */
  readonly environment: Environment;
  /** True on another machine, where commands get the whole environment; on this one, each server sends its own. */
  readonly passesAll?: boolean | undefined;
}

/** A worker that this process has started. */
export interface StartedWorker {
  /** Resolves when it has exited and was reaped. */
  ended(): Promise<void>;
}

const startMs = 10_000;
const attempts = 20;
const mostFailures = 3;

/** Connects to the detached worker, which is started if there is none; `onStart` is called then. */
export async function openWorker(
  place: WorkerPlace,
  onStart: (worker: StartedWorker) => void = () => {},
): Promise<Duplex> {
  let failures = 0;
  for (let turn = 0; ; turn += 1) {
    const stream = await connectToCurrent(place.root);
    if (stream) return stream;
    if (turn >= attempts || failures >= mostFailures) throw cannotStart(place.root);
    if (!(await startWorker(place, onStart))) failures += 1;
    if (turn > 0) await sleep(turn * 5);
  }
}

/** Connects to the detached worker if there is one. */
export async function connectToCurrent(root: string): Promise<Duplex | undefined> {
  const name = findCurrent(root);
  if (name === undefined) return undefined;
  try {
    const stream = await connectTo(join(root, name));
    continueWhileOpen(root, name, stream);
    return stream;
  } catch {
    // The worker has ended, or is about to listen or to end.
    if (isWorkerAlive(root, name) === false) removeCurrent(root, name);
    return undefined;
  }
}

// A command of the same user can stop the worker with SIGSTOP; the kernel still accepts connections for it, but no call
// would be answered.
function continueWhileOpen(root: string, name: string, stream: Duplex): void {
  const worker = readWorker(root, name);
  if (worker && isWorkerAlive(root, name)) stream.once('close', continueWhileStopped(worker.pid));
}

function cannotStart(root: string): NacreError {
  return new NacreError(
    'resources_unavailable',
    `The worker that keeps commands running could not be started in ${root}.`,
    {
      hint: 'Check that this folder can be written and that memory, processes and open files are left, or set outlive: off.',
    },
  );
}

// The worker must not end with the server, nor with its terminal or process group. False if it has failed to start.
async function startWorker(
  { root, build, program, environment, passesAll }: WorkerPlace,
  onStart: (worker: StartedWorker) => void,
): Promise<boolean> {
  const flags = ['--expose-gc', '--no-warnings', ...memoryFlags];
  const child = spawn(process.execPath, [...flags, program, root, build], {
    cwd: '/',
    env: { ...(passesAll ? environment : pickPassed(environment)), ...allocatorSettings },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  child.on('error', () => {});
  // Without a free descriptor, Node creates no process and no streams, and never emits `exit`.
  if (child.pid === undefined) return false;
  child.unref();
  onStart({ ended: () => exitOf(child) });
  try {
    let hasReported = false;
    const reported = once(child.stdout, 'data').then(() => {
      hasReported = true;
    });
    await settlesWithin(Promise.race([reported, once(child, 'close')]), startMs);
    return hasReported;
  } catch {
    return false;
  } finally {
    child.stdout.destroy();
  }
}

async function exitOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  await once(child, 'exit');
}

const passed =
  /^(?:PATH|HOME|USER|LOGNAME|TMPDIR|LANG|LC_\w+|XDG_RUNTIME_DIR|NACRE_INSTANCE|NODE_V8_COVERAGE)$/;

// The worker has little JavaScript to run, since output is hashed, copied and written by native code: without the optimizing compiler
// it needs about 6 MB less.
const memoryFlags = ['--max-semi-space-size=1', '--optimize-for-size', '--no-opt'];

// With a fixed threshold, glibc returns the memory of large buffers to the kernel as soon as they are freed.
const allocatorSettings = {
  MALLOC_MMAP_THRESHOLD_: '65536',
  MALLOC_TRIM_THRESHOLD_: '131072',
  MALLOC_ARENA_MAX: '2',
};

function pickPassed(environment: Environment): Environment {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => passed.test(name)));
}
