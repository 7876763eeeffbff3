import { createStopwatch, sleep } from '../../support/timing.ts';
import { readOrEmpty } from '../processes/descendants.ts';
import { parseStat } from '../processes/proc-process-table.ts';

/** The start time of a process in /proc; null if it is a zombie or gone. */
export function readStartTime(pid: number): string | null {
  const found = parseStat(readOrEmpty(`/proc/${pid}/stat`));
  return found === null || found.zombie ? null : found.startTime;
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
