import { fstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { sendSignal } from '../processes/process-exit.ts';
import { readStartTime, untilGone } from './until-gone.ts';

const limitMs = 2_000;

/**
 * Kills every other process that has the file behind a descriptor open, and waits until they are gone. Returns false if that takes
 * more than 2 s. It ends namespaces whose supervisor died before it had tied them to its own life: no ancestry leads to their
 * processes.
 */
export async function killHolders(fd: number): Promise<boolean> {
  const file = tryToStat(() => fstatSync(fd));
  if (!file) return true;
  const elapsed = createStopwatch();
  const killed = new Map<number, string | null>();
  for (let delayMs = 1; elapsed() < limitMs; delayMs = Math.min(delayMs * 2, 50)) {
    const holders = listPids().filter((pid) => holds(pid, file));
    if (holders.length === 0) return areGone(killed, limitMs - elapsed());
    for (const pid of holders) {
      killed.set(pid, readStartTime(pid));
      sendSignal(pid, 'SIGKILL');
    }
    await sleep(delayMs);
  }
  return false;
}

// A process closes its files before it is gone, and the init process of a namespace waits in between until all others there are gone.
async function areGone(killed: ReadonlyMap<number, string | null>, ms: number): Promise<boolean> {
  const gone = await Promise.all([...killed].map(([pid, startTime]) => untilGone(pid, startTime, ms)));
  return gone.every((isGone) => isGone);
}

function listPids(): readonly number[] {
  return list('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid);
}

function holds(pid: number, { dev, ino }: Stats): boolean {
  return list(`/proc/${pid}/fd`).some((name) => {
    const found = tryToStat(() => statSync(`/proc/${pid}/fd/${name}`));
    return found?.ino === ino && found.dev === dev;
  });
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function tryToStat(stat: () => Stats): Stats | undefined {
  try {
    return stat();
  } catch {
    return undefined;
  }
}
