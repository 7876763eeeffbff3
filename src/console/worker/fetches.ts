// Fetches parts of long outputs that `LogStore` does not keep: the bytes before and after those that it has.
import type { ConsoleFrame, PageMessage } from '../../contract/console.ts';
import type { LogPiece } from './log-store.ts';
import type { OpenLog } from './open-log.ts';

/** The size of one fetch. It is not larger than `windowBytes`, so the server sends it without waiting for `ack`. */
const fetchBytes = 1_048_576;
// The first channel number for fetches; the page numbers its own channels from 1.
const firstChannel = 0x8000_0000;
// The next part is fetched when fewer than this many lines are left to scroll.
const aheadLines = 400;

interface Fetch {
  readonly id: number;
  readonly log: OpenLog;
  readonly isBefore: boolean;
  from: number;
  readonly to: number;
  pieces: LogPiece[];
}

/** Callbacks of `Fetches`. */
export interface FetchesDeps {
  send(message: PageMessage): void;
  /** The lines of the log with this id have changed. */
  changed(id: number): void;
  /** The newest lines of a log were dropped, so it no longer follows the output. */
  detach(id: number): void;
}

/** The fetches of all logs, at most one for each. */
export class Fetches {
  readonly #deps: FetchesDeps;
  readonly #open = new Map<number, Fetch>();
  #nextChannel = firstChannel;

  constructor(deps: FetchesDeps) {
    this.#deps = deps;
  }

  /** Fetches more if the visible rows are near the beginning or the end of the kept part. */
  fetchNear(id: number, log: OpenLog, line: number, count: number): void {
    const { firstLine, lines, firstCursor } = log.store;
    if (line - firstLine < aheadLines && firstCursor > log.floor) this.#begin(id, log, 'before');
    else if (lines - line - count < aheadLines) this.fetchAfter(id, log);
  }

  /** Fetches more for a search: the output after the lines that are kept, then the output before them. */
  forSearch(id: number, log: OpenLog): void {
    if (!log.wantsMore) return;
    if (!log.isLive && !log.isAtEnd) this.#begin(id, log, 'after');
    else if (log.store.firstCursor > log.floor) this.#begin(id, log, 'before');
  }

  /** Fetches the output after the lines that are kept, unless the log is followed. */
  fetchAfter(id: number, log: OpenLog): void {
    if (!log.isLive && !log.isAtEnd) this.#begin(id, log, 'after');
  }

  /** Handles an output frame; returns false if it is on a channel of the page. */
  receive({ channel, bytes, cursor, ms, stream }: ConsoleFrame): boolean {
    const fetch = this.#open.get(channel);
    if (!fetch) return isFetch(channel);
    const isStderr = stream === 2;
    const { log, isBefore } = fetch;
    if (isBefore) fetch.pieces.push({ bytes, ms, isStderr });
    else if (cursor - bytes.length === log.store.end) {
      log.append(bytes, ms, isStderr);
      this.#deps.changed(fetch.id);
    }
    return true;
  }

  /** Handles `skipped`: the server no longer has the output before `to`. Returns false on a channel of the page. */
  skip(channel: number, to: number): boolean {
    const fetch = this.#open.get(channel);
    if (!fetch) return isFetch(channel);
    fetch.from = to;
    if (fetch.isBefore) fetch.log.floor = to;
    else fetch.log.store.skip(to);
    return true;
  }

  /** Handles `end`, or an error that ends the fetch. Returns false on a channel of the page. */
  end(channel: number, cursor: number, error: string | null): boolean {
    const fetch = this.#open.get(channel);
    if (!fetch) return isFetch(channel);
    this.#open.delete(channel);
    const { id, log, isBefore, from, to, pieces } = fetch;
    log.isFetching = false;
    if (error !== null && isBefore) log.floor = log.store.firstCursor;
    else if (isBefore && log.prepend(pieces, from)) this.#deps.detach(id);
    if (!isBefore && (error !== null || cursor < to)) log.isAtEnd = true;
    this.#deps.changed(id);
    this.forSearch(id, log);
    return true;
  }

  /** Stops the fetches of a log that is closed. */
  close(id: number): void {
    for (const [channel, fetch] of this.#open)
      if (fetch.id === id) {
        this.#open.delete(channel);
        this.#deps.send({ type: 'close', channel });
      }
  }

  /** Repeats the open fetches after a reconnection. */
  restart(): void {
    for (const [channel, fetch] of [...this.#open]) {
      this.#open.delete(channel);
      fetch.log.isFetching = false;
      this.#begin(fetch.id, fetch.log, fetch.isBefore ? 'before' : 'after');
    }
  }

  #begin(id: number, log: OpenLog, side: 'before' | 'after'): void {
    if (log.isFetching) return;
    const isBefore = side === 'before';
    log.isFetching = true;
    const { firstCursor, end } = log.store;
    const from = isBefore ? Math.max(log.floor, firstCursor - fetchBytes) : end;
    const to = isBefore ? firstCursor : end + fetchBytes;
    const channel = this.#nextChannel++;
    this.#open.set(channel, { id, log, isBefore, from, to, pieces: [] });
    this.#deps.send({ type: 'open', channel, command: log.command, from, to, mode: 'all' });
  }
}

function isFetch(channel: number): boolean {
  return channel >= firstChannel;
}
