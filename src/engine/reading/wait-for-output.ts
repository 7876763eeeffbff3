import type { Backend } from '../../contract/backend.ts';
import type { Cursor, Stream } from '../../contract/job.ts';
import type { Matcher } from '../../output/matcher.ts';
import { createSanitiser } from '../../output/sanitise.ts';
import { createStopwatch } from '../../support/stopwatch.ts';

/** What a reader waits for; whichever comes first. */
export interface NewsQuery {
  readonly from: Cursor;
  readonly waitMs: number;
  /** A pattern in the output from there on. */
  readonly waitFor?: string | undefined;
  /** Silence of this length. */
  readonly idleMs?: number | undefined;
  readonly stream?: Stream | undefined;
  /** Comes back as soon as the command waits for input. */
  readonly untilInput?: boolean | undefined;
}

/** Why waiting ended. */
export type News = 'ended' | 'matched' | 'awaiting_input' | 'idle' | 'waited';

/** Where output comes from, and who tests patterns. */
export interface NewsSource {
  readonly backend: Pick<Backend, 'read' | 'wait' | 'awaitsInput'>;
  readonly matcher: Matcher;
  readonly id: string;
}

const pieceBytes = 65_536;
// What a pattern is looked for in; a match further back would have been found before.
const windowChars = 262_144;

/** Waits until a command has ended, a pattern matches, its output falls silent, or the time is over. */
export async function awaitNews(source: NewsSource, query: NewsQuery, signal?: AbortSignal): Promise<News> {
  const { backend, id } = source;
  const { waitMs, waitFor, idleMs } = query;
  if (waitFor === undefined && idleMs === undefined && !query.untilInput)
    return awaitEnd(source, waitMs, signal);
  const elapsed = createStopwatch();
  const seen = createWindow(query.stream);
  const lookout = createLookout(query.untilInput === true, waitFor === undefined ? 2 : 5);
  let quiet = createStopwatch();
  for (let at = query.from; ; ) {
    const idleLeft = (idleMs ?? Number.POSITIVE_INFINITY) - quiet();
    const patience = Math.min(waitMs - elapsed(), idleLeft, lookout.patienceMs());
    const found = await backend.read(id, at, { waitMs: Math.max(0, patience), maxBytes: pieceBytes });
    if (found.next > at) {
      quiet = createStopwatch();
      lookout.reset();
      seen.push(found.chunks);
      if (waitFor !== undefined && (await source.matcher.test(waitFor, seen.texts())).includes(true)) {
        return 'matched';
      }
    }
    at = found.next;
    if (found.final && found.next === found.end) return 'ended';
    if (lookout.isDue() && lookout.saw(await backend.awaitsInput(id))) return 'awaiting_input';
    if (elapsed() >= waitMs || signal?.aborted) return 'waited';
    if (idleMs !== undefined && quiet() >= idleMs) return 'idle';
  }
}

// A reader that has gone away is noticed within this time.
const tickMs = 1_000;

// A look costs about a millisecond: soon after the last output, then less and less often.
const firstLookMs = 10;
const lastLookMs = 400;

// Who only pauses on its way to an answer is not taken for somebody who waits: that takes several looks in silence, and
// more of them where a pattern says that something is still to come.
function createLookout(isWanted: boolean, looksNeeded: number) {
  let since = createStopwatch();
  let delayMs = firstLookMs;
  let seen = 0;
  return {
    patienceMs: () => (isWanted ? Math.min(tickMs, Math.max(1, delayMs - since())) : tickMs),
    reset() {
      since = createStopwatch();
      delayMs = firstLookMs;
      seen = 0;
    },
    saw(isAwaiting: boolean) {
      seen = isAwaiting ? seen + 1 : 0;
      return seen >= looksNeeded;
    },
    isDue() {
      if (!isWanted || since() < delayMs) return false;
      since = createStopwatch();
      delayMs = Math.min(delayMs * 2, lastLookMs);
      return true;
    },
  };
}

async function awaitEnd({ backend, id }: NewsSource, waitMs: number, signal?: AbortSignal): Promise<News> {
  const elapsed = createStopwatch();
  for (;;) {
    const { end } = await backend.wait(id, Math.max(0, Math.min(waitMs - elapsed(), tickMs)));
    if (end) return 'ended';
    if (elapsed() >= waitMs || signal?.aborted) return 'waited';
  }
}

/** The newest text of each stream. */
function createWindow(wanted: Stream | undefined) {
  const streams = wanted === undefined ? (['stdout', 'stderr'] as const) : [wanted];
  const views = streams.map((stream) => ({ stream, sanitiser: createSanitiser(), text: '' }));
  return {
    push(chunks: readonly { readonly stream: Stream; readonly data: Uint8Array }[]) {
      for (const view of views) {
        for (const { data } of chunks.filter((chunk) => chunk.stream === view.stream)) {
          view.text = (view.text + view.sanitiser.push(data)).slice(-windowChars);
        }
      }
    },
    texts: () => views.map(({ text, sanitiser }) => text + sanitiser.pending()),
  };
}
