import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { readOrEmpty } from '../processes/descendants.ts';
import { parseStat } from '../processes/proc-process-table.ts';

/** The start time of a process in /proc; null if it is a zombie or gone. */
export function readStartTime(pid: number): string | null {
  return toStartTime(readOrEmpty(`/proc/${pid}/stat`));
}

/** Waits up to `limitMs` until no living process has this pid and start time; returns whether that is so. */
export async function untilGone(pid: number, startTime: string | null, limitMs: number): Promise<boolean> {
  const elapsed = createStopwatch();
  for (
    let delayMs = 1;
    startTime !== null && readStartTime(pid) === startTime;
    delayMs = Math.min(delayMs * 2, 50)
  ) {
    if (elapsed() >= limitMs) return false;
    await sleep(delayMs);
  }
  return true;
}

// A killed process that has closed its files is usually gone within these turns of the event loop, some 30 μs each.
const turns = 60;

/** Like `untilGone`, but polls faster, for a process that is about to exit. If /proc cannot be read (EMFILE), it counts as living. */
export async function untilExited(pid: number, startTime: string, limitMs: number): Promise<boolean> {
  const elapsed = createStopwatch();
  for (let tries = 0; isLiving(pid, startTime); tries += 1) {
    if (elapsed() >= limitMs) return false;
    await (tries < turns ? nextTurn() : sleep(1));
  }
  return true;
}

function isLiving(pid: number, startTime: string): boolean {
  try {
    return toStartTime(readFileSync(`/proc/${pid}/stat`, 'latin1')) === startTime;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code !== 'ENOENT' && code !== 'ESRCH';
  }
}

function toStartTime(stat: string): string | null {
  const found = parseStat(stat);
  return found === null || found.zombie ? null : found.startTime;
}
