import type { Backend } from '../../contract/backend.ts';
import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';
import type { TextView } from '../../output/line-pieces.ts';
import type { Matcher } from '../../output/matcher.ts';

/** Which part of an output is wanted, and how it is to look. */
export interface TextQuery {
  readonly from: Cursor;
  /** Where the output ends now. */
  readonly end: Cursor;
  /** True when nothing follows that end. */
  readonly final: boolean;
  /** Characters of both streams together. */
  readonly maxChars: number;
  /** What is kept of more than that: the beginning, and the rest stays unread; or both ends; or the end. */
  readonly keep: 'beginning' | 'ends' | 'end';
  readonly view: TextView;
  readonly stream?: Stream | undefined;
  /** Only lines that match; the others count as read. */
  readonly filter?: string | undefined;
  /** A sentence that tells how to get what was left out, from a position on. */
  howToReadOn(from: Cursor): string;
}

/** Where the bytes are, and who tests patterns. */
export interface TextSource {
  readonly backend: Pick<Backend, 'read'>;
  readonly matcher: Matcher;
  readonly id: string;
}

/** The text of each stream. */
export type Texts = Record<Stream, string>;

/** A query with its end. */
export interface Range extends TextQuery {
  /** How far is read at most. */
  readonly to: Cursor;
}

/** All the bytes from one position to another, or as many as there are. */
export async function readRange(
  { backend, id }: TextSource,
  from: Cursor,
  to: Cursor,
): Promise<OutputChunk[]> {
  const found: OutputChunk[] = [];
  for (let at = from; at < to; ) {
    const { chunks, next } = await backend.read(id, at, { waitMs: 0, maxBytes: to - at });
    if (next === at) break;
    found.push(...chunks);
    at = next;
  }
  return found;
}

/** How many bytes these are. */
export function sizeOf(chunks: readonly OutputChunk[]): number {
  return chunks.reduce((sum, { data }) => sum + data.length, 0);
}
