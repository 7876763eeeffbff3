import type { Backend } from '../../contract/backend.ts';
import type { Cursor } from '../../contract/job.ts';
import { createProgress } from '../../output/progress.ts';
import { createStopwatch } from '../../support/stopwatch.ts';

/** How a running command is getting on. */
export interface Progress {
  readonly elapsedMs: number;
  readonly bytes: number;
  /** Lines so far; null when the command writes faster than they are counted. */
  readonly lines: number | null;
  readonly lastLine: string;
}

const everySecond = 1_000;
// Clients give up on a call that shows no life for a minute.
const silentTicks = 8;
const tickBytes = 1_048_576;

/** Tells the progress of a job about once a second while it writes, and now and then while it does not. */
export function watchProgress(
  backend: Backend,
  id: string,
  onProgress: (progress: Progress) => void,
  tickMs = everySecond,
): () => void {
  const elapsed = createStopwatch();
  const seen = createProgress();
  let at: Cursor = 0;
  let skipped = false;
  let quiet = 0;
  let busy = false;
  let stopped = false;

  const look = async () => {
    let read = await backend.read(id, at, { waitMs: 0, maxBytes: tickBytes });
    if (read.end - read.next > tickBytes) {
      skipped = true;
      read = await backend.read(id, read.end - tickBytes, { waitMs: 0, maxBytes: tickBytes });
    }
    for (const { stream, data } of read.chunks) seen.push(stream, data);
    quiet = read.next === at ? quiet + 1 : 0;
    at = read.next;
    // A look may outlast the command, and after its answer there is nothing to tell.
    if (stopped || quiet % silentTicks !== 0) return;
    const { lines, lastLine } = seen.snapshot();
    onProgress({
      elapsedMs: Math.round(elapsed()),
      bytes: read.end,
      lines: skipped ? null : lines,
      lastLine,
    });
  };
  const timer = setInterval(() => {
    if (busy) return;
    busy = true;
    look()
      .catch(() => {})
      .finally(() => {
        busy = false;
      });
  }, tickMs);
  return () => {
    stopped = true;
    clearInterval(timer);
  };
}
