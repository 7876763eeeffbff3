import { readdirSync, readFileSync } from 'node:fs';
import { sleep } from '../../src/support/timing.ts';

/** The lines of /proc/PID/stat of every process in this pid namespace, except PID 1 and this one. */
export function processStates(): readonly string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && ![1, process.pid].includes(Number(name)))
    .map(readState)
    .filter((stat) => stat !== '');
}

/** Those of `processStates` that are zombies. */
export function zombieStates(): readonly string[] {
  return processStates().filter((stat) => / [ZX] /.test(stat.slice(stat.lastIndexOf(')'))));
}

/** Waits until a list is empty, for at most `boundMs`, and returns it. */
export async function settleEmpty(
  list: () => readonly string[],
  boundMs = 2_000,
): Promise<readonly string[]> {
  for (let waited = 0; waited < boundMs && list().length > 0; waited += 20) await sleep(20);
  return list();
}

function readState(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return '';
  }
}
