import { createStopwatch, sleep } from '../../../support/timing.ts';

const stepMs = 20;

/** Waits up to `limitMs` until no call is open; returns how many still are. */
export async function drain(countOpen: () => number, limitMs: number): Promise<number> {
  const elapsed = createStopwatch();
  while (countOpen() > 0 && elapsed() < limitMs) await sleep(Math.min(stepMs, limitMs - elapsed()));
  return countOpen();
}
