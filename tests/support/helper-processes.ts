import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { childrenOf } from '../../src/worker/processes/descendants.ts';
import { commandLine, processesWith } from './processes.ts';
import type { TestWorker } from './worker.ts';

/**
 * nacre's own processes, from the fork server down to the shell of a command. In namespaces of the fork server there is no supervisor,
 * and init is also the keeper. In a session, `shell` is the host and `session shell` the shell below it; a command without a session
 * has no such process.
 */
export const helpers = ['fork server', 'supervisor', 'init', 'keeper', 'shell', 'session shell'] as const;

/** One of nacre's own processes. */
export type Helper = (typeof helpers)[number];

/** The processes of a worker: those that have its `NACRE_INSTANCE`. */
export function processesOf({ folder }: Pick<TestWorker, 'folder'>): readonly number[] {
  const instances = readdirSync(join(folder, 'state', 'run'));
  return instances.flatMap((name) => processesWith(`NACRE_INSTANCE=${name}`));
}

/** The fork servers of a worker. The init processes that they fork have the same command line. */
export function forkServersOf(worker: Pick<TestWorker, 'folder'>): readonly number[] {
  const forks = processesOf(worker).filter((pid) => commandLine(pid).includes('$signalfd'));
  const below = new Set(forks.flatMap(childrenOf));
  return forks.filter((pid) => !below.has(pid));
}

/** The pid of a helper of the command, or of the waiting shell, whose highest helper (`Keeper.pid`) is given. */
export function findHelper(
  worker: Pick<TestWorker, 'folder'>,
  helper: Helper,
  highest: number,
): number | undefined {
  if (helper === 'fork server') return forkServersOf(worker)[0];
  let pid: number | undefined = highest;
  for (const level of commandLine(highest).includes('$signalfd') ? ownNamespace : bubblewrap) {
    if (level.includes(helper) || pid === undefined) return pid;
    [pid] = childrenOf(pid);
  }
  return undefined;
}

const shells: readonly (readonly Helper[])[] = [['shell'], ['session shell']];
const ownNamespace: typeof shells = [['init', 'keeper'], ...shells];
const bubblewrap: typeof shells = [['supervisor'], ['init'], ['keeper'], ...shells];

/** The highest helper of a shell that waits for a command: a child of the fork server with a whole family below it. */
export function findWaitingKeeper(worker: Pick<TestWorker, 'folder'>): number | undefined {
  return forkServersOf(worker)
    .flatMap(childrenOf)
    .find((pid) => findHelper(worker, 'shell', pid) !== undefined);
}
