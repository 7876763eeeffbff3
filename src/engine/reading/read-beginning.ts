import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';
import { findCompleteEnd } from '../../output/complete-end.ts';
import { createLinePieces, type TextPiece } from '../../output/line-pieces.ts';
import { readRange } from '../../support/tail.ts';
import { createStopwatch } from '../../support/timing.ts';
import { sizeOf, type TextRange, type TextSource, type Texts } from './text-query.ts';

const pieceBytes = 65_536;
// A filter that matches little could read for minutes; the rest is left for the next call.
const maxFilterMs = 2_000;

/** Reads whole lines from `range.from` up to `maxChars`; of a single longer line, a part. */
export async function readBeginning(
  source: TextSource,
  range: TextRange,
  mostAtOnce: 'line' | 'whole' = 'whole',
): Promise<Beginning> {
  const pieces = createLinePieces(range.from, range.view, range.skip);
  const elapsed = createStopwatch();
  const kept: TextPiece[] = [];
  let chars = 0;
  const { maxLines = Number.POSITIVE_INFINITY } = range;
  for (let at = range.from; at < range.to; ) {
    const chunks = await readRange(source.read, at, Math.min(range.to, at + pieceBytes));
    at += sizeOf(chunks);
    const fits =
      range.filter === undefined && range.maxLines === undefined && chars + pieceBytes <= range.maxChars;
    const size = fits ? mostAtOnce : 'line';
    const found = [...pieces.push(chunks, size), ...(at >= range.to ? pieces.rest() : [])];
    const wanted = await choose(source, range, found);
    for (const [index, piece] of wanted.entries()) {
      chars += piece.text.length;
      if (chars > range.maxChars || kept.length >= maxLines) {
        // A control character becomes several visible ones, so the text can be longer than its bytes.
        if (size === 'whole') return readBeginning(source, range, 'line');
        const starts = wanted.slice(index).map(({ start }) => start);
        return cutBefore(source, range, kept, Math.min(pieces.unfinishedFrom(), ...starts));
      }
      kept.push(piece);
    }
    const isSlow = range.filter !== undefined && elapsed() > maxFilterMs;
    if (isSlow && at < range.to) return cutBefore(source, range, kept, pieces.unfinishedFrom());
    if (chunks.length === 0) break;
  }
  return { texts: toTexts(kept), next: range.to };
}

/** Text from the start of a range, and the cursor of the rest. */
export interface Beginning {
  readonly texts: Texts;
  readonly next: Cursor;
}

/**
 * The lines that end before a position. Lines of both streams overlap in the log, so the position moves back to the start
 * of any line that crosses it: nothing is read twice or skipped.
 */
async function cutBefore(
  source: TextSource,
  range: TextRange,
  kept: readonly TextPiece[],
  position: Cursor,
): Promise<Beginning> {
  const next = kept.reduceRight((at, { start, end }) => (end > at ? Math.min(at, start) : at), position);
  if (next <= range.from) return readLongLine(source, range);
  return { texts: toTexts(kept.filter(({ end }) => end <= next)), next };
}

function toTexts(pieces: readonly TextPiece[]): Texts {
  const textOf = (wanted: Stream) =>
    pieces
      .filter(({ stream }) => stream === wanted)
      .map(({ text }) => text)
      .join('');
  return { stdout: textOf('stdout'), stderr: textOf('stderr') };
}

async function choose(
  { matcher }: TextSource,
  { stream, filter }: TextRange,
  pieces: readonly TextPiece[],
): Promise<readonly TextPiece[]> {
  const wanted = stream === undefined ? pieces : pieces.filter((piece) => piece.stream === stream);
  if (filter === undefined || wanted.length === 0) return wanted;
  const lines = wanted.map(({ text }) => (text.endsWith('\n') ? text.slice(0, -1) : text));
  const matches = await matcher.test(filter, lines);
  return wanted.filter((_, index) => matches[index]);
}

// A character has at least one byte, so `room` bytes never exceed `room` characters.
async function readLongLine(source: TextSource, range: TextRange): Promise<Beginning> {
  const room = Math.max(range.maxChars, 64);
  const chunks = await readRange(source.read, range.from, Math.min(range.to, range.from + room));
  const end = range.from + sizeOf(chunks);
  const next = Math.max(range.from + 1, findCompleteEnd(chunks, end, false));
  const pieces = createLinePieces(range.from, range.view, range.skip);
  const found = [...pieces.push(firstBytes(chunks, next - range.from)), ...pieces.rest()];
  return { texts: toTexts(await choose(source, range, found)), next };
}

function firstBytes(chunks: readonly OutputChunk[], bytes: number): OutputChunk[] {
  let left = bytes;
  return chunks.map(({ stream, data }) => {
    const part = data.subarray(0, Math.max(0, left));
    left -= data.length;
    return { stream, data: part };
  });
}
