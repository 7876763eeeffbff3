import { pause } from '../../support/pause.ts';
import { childrenOf } from '../processes/descendants.ts';
import type { Roof } from './namespace-tree.ts';

const tries = 200;

/** The number, as seen from here, of the shell that waits for its order below a supervisor; null when there is none. */
export async function findShell(supervisor: number, roof: Roof): Promise<number | null> {
  for (let tried = 0; tried < tries; tried += 1) {
    const shell = descend(supervisor, roof.residents + 1);
    if (shell !== null) return shell;
    // The keeper says that it is ready a moment before it starts the shell.
    await pause(1 + Math.min(tried, 20));
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
