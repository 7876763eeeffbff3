import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from '../../src/worker/processes/descendants.ts';
import { commandLine, processesWith } from './processes.ts';
import type { TestWorker } from './worker.ts';

/**
 * nacre's own processes, from the fork server down to the shell of a command. In a session, `shell` is the host and `session shell`
 * the shell below it; a command without a session has no such process.
 */
export const helpers = ['fork server', 'supervisor', 'init', 'keeper', 'shell', 'session shell'] as const;

/** One of nacre's own processes. */
export type Helper = (typeof helpers)[number];

/** The processes of a worker: those that have its `NACRE_INSTANCE`. */
export function processesOf({ folder }: Pick<TestWorker, 'folder'>): readonly number[] {
  const instances = readdirSync(join(folder, 'state', 'run'));
  return instances.flatMap((name) => processesWith(`NACRE_INSTANCE=${name}`));
}

/** The fork servers of a worker. The supervisors, init processes and keepers that they fork have the same command line. */
export function forkServersOf(worker: Pick<TestWorker, 'folder'>): readonly number[] {
  const forks = processesOf(worker).filter((pid) => commandLine(pid).includes('$signalfd'));
  const below = new Set(forks.flatMap(childrenOf));
  return forks.filter((pid) => !below.has(pid));
}

/** The pid of a helper of the command, or of the waiting shell, whose supervisor is given. */
export function findHelper(
  worker: Pick<TestWorker, 'folder'>,
  helper: Helper,
  supervisor: number,
): number | undefined {
  if (helper === 'fork server') return forkServersOf(worker)[0];
  let pid: number | undefined = supervisor;
  for (const level of helpers.slice(1)) {
    if (level === helper || pid === undefined) return pid;
    [pid] = childrenOf(pid);
  }
  return undefined;
}

/** The supervisor of a shell that waits for a command: a child of the fork server with a whole family below it. */
export function findWaitingSupervisor(worker: Pick<TestWorker, 'folder'>): number | undefined {
  return forkServersOf(worker)
    .flatMap(childrenOf)
    .find((pid) => findHelper(worker, 'shell', pid) !== undefined);
}
