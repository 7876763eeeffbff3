import { type StopOptions, stopOnClose } from '../../contract/backend.ts';
import type { Caller } from '../../contract/caller.ts';
import { NacreError } from '../../contract/failure.ts';
import type { JobState, OutputChunk } from '../../contract/job.ts';
import { goneNotice } from '../../support/gone-notice.ts';
import { logOf, tail } from '../../support/tail.ts';
import { settlesWithin } from '../../support/timing.ts';
import type { RunContext } from '../context/call-context.ts';
import type { EngineDeps } from '../context/engine-deps.ts';
import { toFinished } from './shape-outcome.ts';
import type { StartedCommand } from './start.ts';
import { watchProgress, watchUsage } from './watch-progress.ts';

/** `AbortSignal.reason` of calls that are aborted because the server closes. */
export const serverCloses = Symbol('the server closes');

const waitMs = 60_000;
const pieceBytes = 262_144;

/** Follows a started job to its end: passes output to `onOutput`, reports progress, stops it when `signal` fires. */
export async function follow(
  deps: EngineDeps,
  id: string,
  context: Pick<RunContext, 'signal' | 'onProgress' | 'onUsage' | 'onOutput' | 'outputGraceMs'>,
): Promise<JobState> {
  const unwatch = watch(deps, id, context);
  try {
    if (context.onOutput)
      await passOutput(deps, id, toReceiver(deps, id, context.onOutput, context.outputGraceMs));
    return await waitForEnd(deps, id);
  } catch (error) {
    // The call fails, so nothing else would stop the command.
    await deps.backend.stop(id, deps.stopOnCancel).catch(() => {});
    throw error;
  } finally {
    unwatch();
  }
}

/** Stops a job when `signal` fires and reports its progress, until the returned function is called. */
export function watch(
  { backend, stopOnCancel }: EngineDeps,
  id: string,
  { signal, onProgress, onUsage }: Pick<RunContext, 'signal' | 'onProgress' | 'onUsage'>,
): () => void {
  const cancel = () => void backend.stop(id, toStopOptions(stopOnCancel, signal)).catch(() => {});
  const stopProgress = onProgress && watchProgress(backend, id, onProgress);
  const stopUsage = onUsage && watchUsage(backend, id, onUsage);
  signal?.addEventListener('abort', cancel, { once: true });
  if (signal?.aborted) cancel();
  return () => {
    signal?.removeEventListener('abort', cancel);
    stopProgress?.();
    stopUsage?.();
  };
}

function toStopOptions(stopOnCancel: StopOptions, signal: AbortSignal | undefined): StopOptions {
  return signal?.reason === serverCloses ? stopOnClose : stopOnCancel;
}

/** Receives output; false if it does not want more. */
type Receiver = (chunks: readonly OutputChunk[]) => Promise<boolean>;

// While the command runs, `onOutput` has no time limit. After the end, the first call that does not return in time is
// the last one.
function toReceiver(
  deps: EngineDeps,
  id: string,
  onOutput: NonNullable<RunContext['onOutput']>,
  graceMs: number | undefined,
): Receiver {
  if (graceMs === undefined) return (chunks) => onOutput(chunks).then(() => true);
  let ended: Promise<boolean> | undefined;
  return async (chunks) => {
    const taken = onOutput(chunks);
    ended ??= waitForEnd(deps, id).then(() => false);
    const isTaken = await Promise.race([taken.then(() => true), ended]);
    return isTaken || settlesWithin(taken, graceMs);
  };
}

async function passOutput({ backend }: EngineDeps, id: string, receive: Receiver): Promise<void> {
  for await (const { chunks, goneBytes } of tail(logOf(backend, id), 0, { waitMs, maxBytes: pieceBytes })) {
    const notice = { stream: 'stderr', data: Buffer.from(goneNotice(goneBytes)) } as const;
    const all = goneBytes > 0 ? [notice, ...chunks] : chunks;
    if (all.length > 0 && !(await receive(all))) return;
  }
}

async function waitForEnd({ backend }: EngineDeps, id: string): Promise<JobState> {
  for (;;) {
    const state = await backend.wait(id, waitMs);
    if (state.end) return state;
  }
}

/** The recorded end of a command that no call waits for. */
export interface RecordedEnd {
  readonly state: JobState;
  /** Sentences about what went wrong with the record. */
  readonly warnings: readonly string[];
}

/** Waits for the end of a command and records it, without its output. */
export async function recordEnd(
  deps: EngineDeps,
  { id, cwd }: Pick<StartedCommand, 'id' | 'cwd'>,
  caller: Caller,
): Promise<RecordedEnd> {
  const { audit, backend, sessions } = deps;
  try {
    const state = await waitForEnd(deps, id);
    const outcome = { ...toFinished(state, cwd), endRecord: state.endRecord };
    const warnings = audit.tryRecord({ kind: 'finished', id, caller, outcome });
    // This comes before `settle`, which is a round trip: replies already report the end, so the command's name must be
    // free.
    sessions.ended(id);
    if (state.outlives) await backend.settle(id).catch(() => {});
    return { state, warnings };
  } catch (error) {
    // A command that outlives this process has no end yet: a later one records it.
    if (!(error instanceof NacreError && error.code === 'shutting_down'))
      audit.tryRecord({ kind: 'failed', id, caller, error });
    throw error;
  } finally {
    sessions.ended(id);
  }
}
