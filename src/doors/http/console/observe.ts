// One observer of one command's output. It reads the command's log at its own cursor, so it costs the command nothing,
// however slow it is:
// 1. at most `windowBytes` are sent before the page acknowledges them,
// 2. in mode `tail`, an observer that is too far behind jumps towards the end, and says which bytes it left out.
import { type ConsoleMessage, toOutputFrame, windowBytes } from '../../../contract/console.ts';
import type { Cursor, OutputMark, ReadResult } from '../../../contract/job.ts';
import type { ReadLog } from '../../../support/tail.ts';
import { createNotifier, sleep } from '../../../support/timing.ts';

/** How an observer reads and sends. */
export interface ObserverOptions {
  readonly channel: number;
  readonly from: Cursor;
  readonly mode: 'tail' | 'all';
  readonly signal: AbortSignal;
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
// A page paints once a frame: what arrives in between is sent together, which costs the server and the page less.
const gatherMs = 16;

/** Lets observers of a command that wait at the same cursor share one read: fifty of them cost the server one. */
export class SharedReads {
  readonly #open = new Map<string, Promise<ReadResult>>();

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
    const { signal, channel, mode } = options;
    signal.addEventListener('abort', acked.notifyAll, { once: true });
    let at = options.from;
    while (!signal.aborted) {
      while (at - ackedTo >= windowBytes && !signal.aborted) await acked.wait(waitMs);
      if (signal.aborted) return;
      const found = await read(at, { waitMs, maxBytes: pieceBytes });
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
      if (found.next === found.end) await sleep(gatherMs);
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
  { chunks, marks = [] }: ReadResult,
  from: Cursor,
  { channel, signal, sendBytes }: ObserverOptions,
): Promise<boolean> {
  let cursor = from;
  for (const { stream, data } of chunks) {
    for (const bytes of splitAtMarks(data, cursor, marks)) {
      const ms = msAt(marks, cursor);
      cursor += bytes.length;
      const frame = toOutputFrame({ stream: stream === 'stdout' ? 1 : 2, channel, cursor, ms, bytes });
      if (signal.aborted || !(await sendBytes(frame))) return false;
    }
  }
  return true;
}

// A frame has one time, so bytes are cut where the next mark begins.
function splitAtMarks(data: Uint8Array, from: Cursor, marks: readonly OutputMark[]): readonly Uint8Array[] {
  const cuts = marks.map(({ cursor }) => cursor - from).filter((at) => at > 0 && at < data.length);
  return [0, ...cuts].map((begin, index) => data.subarray(begin, cuts[index] ?? data.length));
}

function msAt(marks: readonly OutputMark[], cursor: Cursor): number {
  return marks.findLast((mark) => mark.cursor <= cursor)?.ms ?? marks[0]?.ms ?? 0;
}
