import type { StopOptions } from '../../contract/backend.ts';
import { cancelled, type NacreError } from '../../contract/failure.ts';
import type { JobState } from '../../contract/job.ts';
import type { EngineParts, RunContext } from '../run.ts';
import { watchProgress } from './watch-progress.ts';
import { watchUsage } from './watch-usage.ts';

/** The reason of a call's signal when it is the server that ends. */
export const serverCloses = Symbol('the server closes');

/** How a command is ended when the server ends: it has no time for long farewells. */
export const closingLadder: StopOptions = { signal: 'SIGTERM', graceMs: 500 };

const waitMs = 60_000;
const pieceBytes = 262_144;

/** Follows a job that was just started to its end: feeds its stdin, tells how it goes, ends it when cancelled. */
export async function follow(
  parts: EngineParts,
  id: string,
  input: string | undefined,
  context: RunContext,
): Promise<JobState> {
  const { backend } = parts;
  const { onOutput } = context;
  const letGo = attend(parts, id, context);
  try {
    // Nobody waits for the input to be taken: a command may end without reading it.
    if (input !== undefined) backend.write(id, Buffer.from(input), { eof: true }).catch(() => {});
    if (onOutput) await pass(parts, id, onOutput);
    return await ended(parts, id);
  } catch (error) {
    // Nobody follows it any more, so nobody would end it.
    await backend.stop(id, parts.cancelling).catch(() => {});
    throw error;
  } finally {
    letGo();
  }
}

/** Ends a job when its call is cancelled and tells its progress, until it is let go. */
export function attend(
  parts: EngineParts,
  id: string,
  { signal, onProgress, onUsage }: Pick<RunContext, 'signal' | 'onProgress' | 'onUsage'>,
): () => void {
  const { backend } = parts;
  const cancel = () => void backend.stop(id, ladderFor(parts, signal)).catch(() => {});
  const stopWatching = onProgress && watchProgress(backend, id, onProgress);
  const stopCounting = onUsage && watchUsage(backend, id, onUsage);
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  return () => {
    // A signal may fire long after the answer, when the job's number means another process.
    signal?.removeEventListener('abort', cancel);
    stopWatching?.();
    stopCounting?.();
  };
}

function ladderFor({ cancelling }: EngineParts, signal: AbortSignal | undefined): StopOptions {
  return signal?.reason === serverCloses ? closingLadder : cancelling;
}

async function pass(
  { backend }: EngineParts,
  id: string,
  onOutput: NonNullable<RunContext['onOutput']>,
): Promise<void> {
  for (let at = 0; ; ) {
    const { chunks, next, end, final } = await backend.read(id, at, { waitMs, maxBytes: pieceBytes });
    if (chunks.length > 0) await onOutput(chunks);
    at = next;
    if (final && next === end) return;
  }
}

/** Waits for the end of a job, however long that takes. */
export async function ended({ backend }: EngineParts, id: string): Promise<JobState> {
  for (;;) {
    const state = await backend.wait(id, waitMs);
    if (state.end) return state;
  }
}

/** The error of a call that was cancelled before its command could start. */
export function cancelledBeforeStart(): NacreError {
  return cancelled('The call was cancelled before its command was started.');
}
