import type { Backend } from '../../contract/backend.ts';
import type { Cursor } from '../../contract/job.ts';
import type { Resources } from '../../contract/limits.ts';
import { createProgressTracker } from '../../output/progress-tracker.ts';
import { createStopwatch } from '../../support/timing.ts';
import type { Progress } from '../context/call-context.ts';

const everySecond = 1_000;
// Clients drop a call without progress after a minute.
const silentTicks = 8;
const tickBytes = 1_048_576;

/** Reports a job's progress every `tickMs` while it prints, every `silentTicks` while it does not, until stopped. */
export function watchProgress(
  backend: Pick<Backend, 'read'>,
  id: string,
  onProgress: (progress: Progress) => void,
  tickMs = everySecond,
): () => void {
  const elapsed = createStopwatch();
  const seen = createProgressTracker();
  let at: Cursor = 0;
  let skipped = false;
  let quiet = 0;
  let busy = false;

  const poll = async (isStopped: () => boolean) => {
    let read = await backend.read(id, at, { waitMs: 0, maxBytes: tickBytes });
    if (read.end - read.next > tickBytes) {
      skipped = true;
      read = await backend.read(id, read.end - tickBytes, { waitMs: 0, maxBytes: tickBytes });
    }
    for (const { stream, data } of read.chunks) seen.push(stream, data);
    quiet = read.next === at ? quiet + 1 : 0;
    at = read.next;
    if (isStopped() || quiet % silentTicks !== 0) return;
    const { lines, lastLine } = seen.snapshot();
    const elapsedMs = Math.round(elapsed());
    onProgress({ elapsedMs, bytes: read.end, lines: skipped ? null : lines, lastLine });
  };
  return repeat(tickMs, async (isStopped) => {
    if (busy) return;
    busy = true;
    await poll(isStopped).finally(() => {
      busy = false;
    });
  });
}

/** Reports once a second the resources that a job's process tree has used so far, until stopped. */
export function watchUsage(
  backend: Pick<Backend, 'wait'>,
  id: string,
  onUsage: (used: Resources) => void,
): () => void {
  return repeat(everySecond, async (isStopped) => {
    const { resources } = await backend.wait(id, 0);
    if (!isStopped() && resources !== null) onUsage(resources);
  });
}

/** Repeats a poll until stopped. A poll may outlast the command, so it checks `isStopped` before it reports. */
function repeat(tickMs: number, poll: (isStopped: () => boolean) => Promise<void>): () => void {
  let stopped = false;
  const timer = setInterval(() => void poll(() => stopped).catch(() => {}), tickMs);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
