import type { Backend } from '../../contract/backend.ts';
import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';
import type { Matcher } from '../../output/matcher.ts';
import { createSanitiser } from '../../output/sanitise.ts';
import { logOf, tail } from '../../support/tail.ts';
import { createStopwatch } from '../../support/timing.ts';

/** Events that end `waitForOutput`; the first one wins. */
export interface WaitQuery {
  readonly from: Cursor;
  readonly waitMs: number;
  /** A pattern in the output after `from`. */
  readonly waitFor?: string | undefined;
  readonly idleMs?: number | undefined;
  readonly stream?: Stream | undefined;
  /** Ends the wait as soon as `awaitsInput` is confirmed. */
  readonly untilInput?: boolean | undefined;
}

/** Why a wait ended; `waited` after `waitMs` or an abort. */
export type WakeReason = 'ended' | 'matched' | 'awaiting_input' | 'idle' | 'waited';

/** The command to wait for, and the matcher for `waitFor`. */
export interface OutputSource {
  readonly backend: Pick<Backend, 'read' | 'wait' | 'awaitsInput'>;
  readonly matcher: Matcher;
  readonly id: string;
}

const pieceBytes = 65_536;
// Matches are looked for in the newest text; an earlier match would have been found before.
const windowChars = 262_144;
// An aborted `signal` is noticed within this time.
const tickMs = 1_000;

/** Waits until the command ends, `waitFor` matches, the output is idle, the command waits for input, or time is up. */
export async function waitForOutput(
  source: OutputSource,
  query: WaitQuery,
  signal?: AbortSignal,
): Promise<WakeReason> {
  const { backend, matcher, id } = source;
  const { waitMs: maxWaitMs, waitFor, idleMs = Number.POSITIVE_INFINITY, untilInput = false } = query;
  if (waitFor === undefined && query.idleMs === undefined && !untilInput)
    return waitForEnd(source, maxWaitMs, signal);
  const elapsed = createStopwatch();
  const newest = createTextWindow(query.stream);
  const prompt = createPromptCheck(waitFor === undefined ? 2 : 5);
  let quiet = createStopwatch();
  const waitMs = () => {
    const nextCheckMs = untilInput ? Math.min(tickMs, prompt.dueInMs()) : tickMs;
    return Math.max(0, Math.min(maxWaitMs - elapsed(), idleMs - quiet(), nextCheckMs));
  };
  for await (const piece of tail(logOf(backend, id), query.from, { waitMs, maxBytes: pieceBytes })) {
    if (piece.next > piece.from) {
      quiet = createStopwatch();
      prompt.reset();
      newest.push(piece.chunks);
      if (waitFor !== undefined && (await matcher.test(waitFor, newest.texts())).includes(true))
        return 'matched';
    }
    if (piece.isLast) break;
    if (untilInput && prompt.isDue() && prompt.confirms(await backend.awaitsInput(id)))
      return 'awaiting_input';
    if (elapsed() >= maxWaitMs || signal?.aborted) return 'waited';
    if (quiet() >= idleMs) return 'idle';
  }
  return 'ended';
}

async function waitForEnd(
  { backend, id }: OutputSource,
  maxWaitMs: number,
  signal: AbortSignal | undefined,
): Promise<WakeReason> {
  const elapsed = createStopwatch();
  for (;;) {
    const { end } = await backend.wait(id, Math.max(0, Math.min(maxWaitMs - elapsed(), tickMs)));
    if (end) return 'ended';
    if (elapsed() >= maxWaitMs || signal?.aborted) return 'waited';
  }
}

// `awaitsInput` reads /proc, which costs about a millisecond: check soon after the last output, then less often.
const firstCheckMs = 10;
const lastCheckMs = 400;

/**
 * Schedules `awaitsInput` checks. A process briefly blocked in read() is not a prompt, so `checksNeeded` positive checks
 * without output in between confirm one; more of them with `waitFor`, which says that output is still expected.
 */
function createPromptCheck(checksNeeded: number) {
  let since = createStopwatch();
  let delayMs = firstCheckMs;
  let positive = 0;
  return {
    dueInMs: () => Math.max(1, delayMs - since()),
    reset() {
      since = createStopwatch();
      delayMs = firstCheckMs;
      positive = 0;
    },
    isDue() {
      if (since() < delayMs) return false;
      since = createStopwatch();
      delayMs = Math.min(delayMs * 2, lastCheckMs);
      return true;
    },
    confirms(isAwaiting: boolean) {
      positive = isAwaiting ? positive + 1 : 0;
      return positive >= checksNeeded;
    },
  };
}

/** The newest `windowChars` of each wanted stream. */
function createTextWindow(wanted: Stream | undefined) {
  const streams = wanted === undefined ? (['stdout', 'stderr'] as const) : [wanted];
  const windows = streams.map((stream) => ({ stream, sanitiser: createSanitiser(), text: '' }));
  return {
    push(chunks: readonly OutputChunk[]) {
      for (const window of windows) {
        for (const { data } of chunks.filter(({ stream }) => stream === window.stream)) {
          window.text = (window.text + window.sanitiser.push(data)).slice(-windowChars);
        }
      }
    },
    texts: () => windows.map(({ text, sanitiser }) => text + sanitiser.pending()),
  };
}
