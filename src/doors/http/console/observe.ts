// One observer of one command's output. It reads the command's log at its own cursor, so it costs the command nothing,
// however slow it is:
// 1. at most `windowBytes` are sent before the page acknowledges them,
// 2. in mode `tail`, an observer that falls too far behind jumps towards the end, and reports the skipped bytes.
import { type ConsoleMessage, toOutputFrame, windowBytes } from '../../../contract/console.ts';
import type { Cursor, ReadResult } from '../../../contract/job.ts';
import type { ReadLog } from '../../../support/tail.ts';
import { createNotifier, sleep } from '../../../support/timing.ts';
import { cutAtMarks } from './cut-at-marks.ts';

/** How an observer reads and sends. */
export interface ObserverOptions {
  readonly channel: number;
  readonly from: Cursor;
  /** The observer stops at this cursor, or when the command and its output end. */
  readonly to?: Cursor | undefined;
  readonly mode: 'tail' | 'all';
  readonly signal: AbortSignal;
  /** The delay before the next read once everything was sent, so that more output fits into one frame. */
  gatherMs(): number;
  /** Resolves when the socket has written it; false if it is closed. */
  sendBytes(frame: Uint8Array): Promise<boolean>;
  send(message: ConsoleMessage): void;
}

/** An observer. */
export interface Observer {
  /** The page has received everything before this cursor. */
  ack(cursor: Cursor): void;
  /** Resolves once the end has been sent, or the observer has been stopped. */
  readonly done: Promise<void>;
}

const pieceBytes = 262_144;
const maxLagBytes = 2_097_152;
const waitMs = 2_000;
// A page paints once a frame, so output that arrives in between is sent together, which is cheaper for the server and
// the page. With many observers the server gathers longer, so that they do not slow the commands further.
const leastGatherMs = 16;
const mostGatherMs = 64;

/** Lets observers of a command that wait at the same cursor share one read: fifty of them cost the server one. */
export class SharedReads {
  readonly #open = new Map<string, Promise<ReadResult>>();
  #observers = 0;

  /** Counts an observer until the returned function is called. */
  join(): () => void {
    this.#observers += 1;
    return () => {
      this.#observers -= 1;
    };
  }

  /** How long output is gathered before it is sent: 1 ms for each observer, from `leastGatherMs` to `mostGatherMs`. */
  gatherMs(): number {
    return Math.max(leastGatherMs, Math.min(mostGatherMs, this.#observers));
  }

  share(id: string, read: ReadLog): ReadLog {
    return (from, options) => {
      const key = `${id} ${from} ${options.waitMs} ${options.maxBytes}`;
      const known = this.#open.get(key);
      if (known) return known;
      const result = read(from, options).finally(() => this.#open.delete(key));
      this.#open.set(key, result);
      return result;
    };
  }
}

/** Starts to send a command's output. */
export function startObserver(read: ReadLog, options: ObserverOptions): Observer {
  const acked = createNotifier();
  let ackedTo = options.from;
  const run = async () => {
    const { signal, channel, mode, to = Number.POSITIVE_INFINITY } = options;
    signal.addEventListener('abort', acked.notifyAll, { once: true });
    let at = options.from;
    while (!signal.aborted) {
      if (at >= to) return options.send({ type: 'end', channel, cursor: at, state: null });
      while (at - ackedTo >= windowBytes && !signal.aborted) await acked.wait(waitMs);
      if (signal.aborted) return;
      const found = await read(at, { waitMs, maxBytes: Math.min(pieceBytes, to - at) });
      const skipTo = toSkip(found, at, mode);
      if (skipTo !== undefined) {
        options.send({ type: 'skipped', channel, from: at, to: skipTo });
        ackedTo += skipTo - at;
        at = skipTo;
        continue;
      }
      if (!(await sendPieces(found, at, options))) return;
      at = found.next;
      if (found.final && found.next === found.end)
        return options.send({ type: 'end', channel, cursor: at, state: null });
      if (found.next === found.end) await sleep(options.gatherMs());
    }
  };
  return {
    ack(cursor) {
      if (cursor <= ackedTo) return;
      ackedTo = cursor;
      acked.notifyAll();
    },
    done: run(),
  };
}

// Where the observer continues instead: after output that was removed, or near the end.
function toSkip({ goneBefore = 0, end }: ReadResult, at: Cursor, mode: 'tail' | 'all'): Cursor | undefined {
  if (at < goneBefore) return goneBefore;
  return mode === 'tail' && end - at > maxLagBytes ? end - pieceBytes : undefined;
}

async function sendPieces(
  found: ReadResult,
  from: Cursor,
  { channel, signal, sendBytes }: ObserverOptions,
): Promise<boolean> {
  let cursor = from;
  // A frame has a single time, so each piece becomes a frame.
  for (const { stream, data: bytes, ms } of cutAtMarks(found, from)) {
    cursor += bytes.length;
    const frame = toOutputFrame({ stream: stream === 'stdout' ? 1 : 2, channel, cursor, ms, bytes });
    if (signal.aborted || !(await sendBytes(frame))) return false;
  }
  return true;
}
