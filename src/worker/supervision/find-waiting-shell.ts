import { sleep } from '../../support/timing.ts';
import { childrenOf } from '../processes/descendants.ts';
import type { Keeper } from './follow-keeper.ts';

const maxTries = 200;

/** The pid, in our own namespace, of a keeper's shell, which waits for its launch message; null if it does not appear. */
export async function findWaitingShell({ pid, hasSupervisor, ownProcesses }: Keeper): Promise<number | null> {
  const levels = ownProcesses + (hasSupervisor ? 1 : 0);
  for (let tries = 0; tries < maxTries; tries += 1) {
    const shell = descend(pid, levels);
    if (shell !== null) return shell;
    // The keeper has forked the shell before it reported `ready`, but /proc lists no child that is just being created.
    await sleep(1 + Math.min(tries, 20));
  }
  return null;
}

function descend(pid: number, levels: number): number | null {
  let at = pid;
  for (let level = 0; level < levels; level += 1) {
    const [child] = childrenOf(at);
    if (child === undefined) return null;
    at = child;
  }
  return at;
}
