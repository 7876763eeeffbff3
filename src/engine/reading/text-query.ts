import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';
import type { TextView } from '../../output/line-pieces.ts';
import type { Matcher } from '../../output/matcher.ts';
import type { ReadLog } from '../../support/tail.ts';

/** Selects a part of an output log and how it becomes text. */
export interface TextQuery {
  readonly from: Cursor;
  readonly end: Cursor;
  /** True if no output can follow `end`. */
  readonly final: boolean;
  readonly maxChars: number;
  /** Maximum lines of both streams together. */
  readonly maxLines?: number | undefined;
  /** Which part of a longer output is returned: `beginning` leaves the rest unread, `ends` omits the middle. */
  readonly keep: 'beginning' | 'ends' | 'end';
  readonly view: TextView;
  readonly stream?: Stream | undefined;
  /** Cursors up to which each stream was read before; its bytes before them are left out. */
  readonly skip?: Readonly<Record<Stream, Cursor>> | undefined;
  /** A pattern; lines that do not match are omitted and count as read. */
  readonly filter?: string | undefined;
  /** Returns the sentence on how to read the omitted output from a cursor; it may be empty. */
  howToReadOn(from: Cursor): string;
}

/** One command's log, and the matcher for `filter`. */
export interface TextSource {
  readonly read: ReadLog;
  readonly matcher: Matcher;
}

/** Text of `stdout` and `stderr`. */
export type Texts = Record<Stream, string>;

/** A query that reads up to the cursor `to`. */
export interface TextRange extends TextQuery {
  readonly to: Cursor;
}

/** Chunks from the cursor `from` on, without the bytes that `skip` leaves out. */
export function withoutSkipped(
  chunks: readonly OutputChunk[],
  from: Cursor,
  skip: TextQuery['skip'],
): readonly OutputChunk[] {
  if (skip === undefined) return chunks;
  let at = from;
  return chunks.map(({ stream, data }) => {
    at += data.length;
    return { stream, data: data.subarray(Math.max(0, data.length - Math.max(0, at - skip[stream]))) };
  });
}

/** Total bytes of chunks. */
export function sizeOf(chunks: readonly OutputChunk[]): number {
  return chunks.reduce((sum, { data }) => sum + data.length, 0);
}
