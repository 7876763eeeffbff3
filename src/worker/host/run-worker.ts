// The program of the detached worker, which dist/worker.js runs:
// 1. it becomes the worker of this user and machine (or container), or exits because one is running,
// 2. it takes over what dead workers left on disk, then listens and reports `ready`,
// 3. it ends with the last command, shell and connection, or by `shutdown` or a signal.
import { rmdirSync, rmSync, watch } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { settlesWithin } from '../../support/timing.ts';
import type { Environment } from '../machine/environment.ts';
import { createProcessTable } from '../processes/create-process-table.ts';
import { findHere } from './here-options.ts';
import {
  becomeCurrent,
  createWorkerFolder,
  type FoundWorker,
  hasLostFolder,
  inheritJobs,
  listenIn,
  removeCurrent,
} from './worker-folder.ts';
import { WorkerHost } from './worker-host.ts';

/** How the program of the worker is started. */
export interface WorkerProgram {
  /** The folder of all workers. */
  readonly root: string;
  readonly build: string;
  /** The environment, and the guard's program next to that of the worker. */
  readonly environment: Environment;
  readonly execGuard: string;
  /** Reports to the process that started it. */
  report(line: 'ready' | 'another'): void;
  /** Frees memory when the worker is idle, because it may stay idle for hours. */
  collectGarbage(): void;
  exit(): void;
}

// A worker to which no server connects within this time exits.
const firstLinkMs = 10_000;
const shutdownMs = 12_000;
// `watch` reports nothing if a parent of the folder is renamed, or while a process has the removed folder open.
const folderCheckMs = 5_000;

/** Runs the detached worker until it has nothing left to keep. */
export async function runWorker({ root, build, report, exit, ...program }: WorkerProgram): Promise<void> {
  const own = createWorkerFolder(root, build);
  if (!becomeCurrent(root, own)) {
    rmSync(own.folder, { recursive: true, force: true });
    report('another');
    return exit();
  }
  const leave = createExit(root, own, exit);
  const host = new WorkerHost({
    ...{ name: own.name, build, jobsFolder: join(own.folder, 'jobs'), table: createProcessTable() },
    here: findHere(root, program),
    onIdle: () => leave(),
    onShutdown: () => leave(),
    onRest: () => program.collectGarbage(),
  });
  const records = inheritJobs(root, own);
  await host.restore(records);
  const server = createServer((socket: Socket) => host.accept(socket));
  server.on('error', () => leave());
  listenIn(own.folder, server);
  report('ready');
  // Without its folder no server can find the worker, and no server could reattach to its commands.
  const endIfLost = () => {
    if (hasLostFolder(own)) void endAll(host, leave);
  };
  watch(own.folder, endIfLost).on('error', () => {});
  setInterval(endIfLost, folderCheckMs).unref();
  setTimeout(() => host.tidy(), firstLinkMs).unref();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => void endAll(host, leave));
}

async function endAll(host: WorkerHost, leave: () => void): Promise<void> {
  await settlesWithin(host.close(), shutdownMs).catch(() => {});
  leave();
}

// Servers must not find the worker any more before it stops listening; the folder stays if it has jobs that may be read
// later.
function createExit(root: string, own: FoundWorker, exit: () => void): () => void {
  let hasLeft = false;
  return () => {
    if (hasLeft) return;
    hasLeft = true;
    removeCurrent(root, own.name);
    removeIfEmpty(own.folder);
    // `Peer` writes the frames of this turn in `setImmediate`, so exit after that.
    setImmediate(exit);
  };
}

function removeIfEmpty(folder: string): void {
  try {
    // `rmdir` fails while the folder contains jobs.
    rmdirSync(join(folder, 'jobs'));
    rmSync(folder, { recursive: true, force: true });
  } catch {}
}
