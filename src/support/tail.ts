import type { Backend } from '../contract/backend.ts';
import type { Cursor, OutputChunk, ReadResult } from '../contract/job.ts';

/** Reads the output log of one command from a cursor, like `Backend.read` with a fixed id. */
export type ReadLog = (
  from: Cursor,
  options: { readonly waitMs: number; readonly maxBytes: number },
) => Promise<ReadResult>;

/** The log of a backend's job; doors wrap `Engine.readBytes` in the same way. */
export function logOf(backend: Pick<Backend, 'read'>, id: string): ReadLog {
  return (from, options) => backend.read(id, from, options);
}

/** How `tail` reads. */
export interface TailOptions {
  /** How long one `read` waits for output; a function is called before each read. */
  readonly waitMs: number | (() => number);
  readonly maxBytes: number;
  /** Skips to the last `maxBytes` of the log when more than this is unread; nothing is skipped by default. */
  readonly maxLagBytes?: number | undefined;
}

/** The result of one read, `from` a cursor. */
export interface TailPiece extends ReadResult {
  readonly from: Cursor;
  /** True if unread output was skipped because of `maxLagBytes`; `chunks` is then empty. */
  readonly skipped: boolean;
  /** Bytes after `from` that were removed (`goneBefore`); `chunks` is empty then. Readers must report them. */
  readonly goneBytes: number;
  /** True if the command has ended and `next` is the end of its log. */
  readonly isLast: boolean;
}

/**
 * Yields an output log from a cursor until the command has ended and everything was read. A read that times out yields
 * an empty piece, so that the caller's loop can check other conditions; `break` stops reading.
 */
export async function* tail(
  read: ReadLog,
  from: Cursor,
  { waitMs, maxBytes, maxLagBytes = Number.POSITIVE_INFINITY }: TailOptions,
): AsyncGenerator<TailPiece, void, undefined> {
  for (let at = from; ; ) {
    const found = await read(at, { waitMs: typeof waitMs === 'number' ? waitMs : waitMs(), maxBytes });
    const skipped = found.end - at > Math.max(maxLagBytes, maxBytes);
    const next = skipped ? found.end - maxBytes : found.next;
    const isLast = found.final && next === found.end;
    const goneBytes = Math.max(0, Math.min(next, found.goneBefore ?? 0) - at);
    yield { ...found, ...(skipped && { chunks: [] }), from: at, next, skipped, goneBytes, isLast };
    if (isLast) return;
    at = next;
  }
}

/** Reads the chunks from cursor `from` up to `to`, or to the end of the log. */
export async function readRange(read: ReadLog, from: Cursor, to: Cursor): Promise<OutputChunk[]> {
  const found: OutputChunk[] = [];
  for (let at = from; at < to; ) {
    const { chunks, next } = await read(at, { waitMs: 0, maxBytes: to - at });
    if (next === at) break;
    found.push(...chunks);
    at = next;
  }
  return found;
}
