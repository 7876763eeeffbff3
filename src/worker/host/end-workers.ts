import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive } from '../../support/process-identity.ts';
import { sleep } from '../../support/timing.ts';
import { type FoundWorker, listWorkers, readWorker } from './worker-folder.ts';

/** Which detached workers were ended, by pid. */
export interface EndedWorkers {
  readonly ended: readonly number[];
  /** Workers that had to be killed, because they did not end in time. */
  readonly killed: readonly number[];
}

// A worker stops its commands with a short grace period, and gives up after twelve seconds.
const endMs = 14_000;
const killMs = 3_000;
const pollMs = 20;

/** The detached workers of this user that run here, of every protocol. */
export function findWorkers(stateDir: string): readonly FoundWorker[] {
  const folder = join(stateDir, 'worker');
  return listFolders(folder).flatMap((name) => {
    const root = join(folder, name);
    const all = listWorkers(root).flatMap((one) => readWorker(root, one) ?? []);
    return all.filter((worker) => isAlive(worker, worker.folder) === true);
  });
}

/** Ends the detached workers with all commands and shells that they keep; resolves when their processes are gone. */
export async function endWorkers(stateDir: string): Promise<EndedWorkers> {
  const workers = findWorkers(stateDir);
  for (const { pid } of workers) signal(pid, 'SIGTERM');
  const stubborn = await waitForEnd(workers, endMs);
  for (const { pid } of stubborn) signal(pid, 'SIGKILL');
  await waitForEnd(stubborn, killMs);
  const killed = stubborn.map(({ pid }) => pid);
  return { ended: workers.map(({ pid }) => pid), killed };
}

async function waitForEnd(workers: readonly FoundWorker[], maxMs: number): Promise<readonly FoundWorker[]> {
  const living = () => workers.filter((worker) => isAlive(worker, worker.folder) === true);
  for (let waitedMs = 0; waitedMs < maxMs && living().length > 0; waitedMs += pollMs) await sleep(pollMs);
  return living();
}

// `isAlive` has just compared its start time.
function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // ESRCH: it has ended meanwhile.
  }
}

function listFolders(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
