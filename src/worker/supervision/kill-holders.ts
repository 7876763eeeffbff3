import { fstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { sendSignal } from '../processes/process-exit.ts';

const limitMs = 2_000;

/**
 * Kills every other process that has the file behind a descriptor open, until there is none or 2 s have passed. It finds the
 * processes of a namespace whose supervisor died before it tied them to its own life: no ancestry leads to them.
 */
export async function killHolders(fd: number): Promise<void> {
  const file = tryToStat(() => fstatSync(fd));
  if (!file) return;
  const elapsed = createStopwatch();
  for (let delayMs = 1; elapsed() < limitMs; delayMs = Math.min(delayMs * 2, 50)) {
    const holders = listPids().filter((pid) => holds(pid, file));
    if (holders.length === 0) return;
    for (const pid of holders) sendSignal(pid, 'SIGKILL');
    await sleep(delayMs);
  }
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
