import type { JobEnd } from '../../contract/job.ts';
import { pause } from '../../support/pause.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import type { ProcessTree } from './process-tree.ts';

// A process that has closed its outputs may still be on its way out: that is not left running.
const settleMs = 50;

/** What lives of a tree, once what is about to end has had a moment for it. */
export async function describeSettled(tree: ProcessTree): Promise<JobEnd['leftRunning']> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; ; delayMs *= 2) {
    const left = await tree.describe();
    if (left.length === 0 || elapsed() >= settleMs) return left;
    await pause(delayMs);
  }
}
