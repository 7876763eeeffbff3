import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';
import { createLinePieces, type TextPiece } from '../../output/line-pieces.ts';
import { steadyEnd } from '../../output/steady-end.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import { type Range, readRange, sizeOf, type TextSource, type Texts } from './text-query.ts';

const pieceBytes = 65_536;
// A filter may leave out so much that a reader would wait for ever.
const filterMs = 2_000;

/** Whole lines from the beginning, as many as there is room for; of a line that is too long alone, a part. */
export async function readBeginning(source: TextSource, range: Range): Promise<Beginning> {
  const pieces = createLinePieces(range.from, range.view);
  const elapsed = createStopwatch();
  const kept: TextPiece[] = [];
  let chars = 0;
  for (let at = range.from; at < range.to; ) {
    const chunks = await readRange(source, at, Math.min(range.to, at + pieceBytes));
    at += sizeOf(chunks);
    const found = [...pieces.push(chunks), ...(at >= range.to ? pieces.rest() : [])];
    const wanted = await choose(source, range, found);
    for (const [index, piece] of wanted.entries()) {
      chars += piece.text.length;
      if (chars > range.maxChars) {
        const starts = wanted.slice(index).map(({ start }) => start);
        return cutBefore(source, range, kept, Math.min(pieces.openFrom(), ...starts));
      }
      kept.push(piece);
    }
    const isLong = range.filter !== undefined && elapsed() > filterMs;
    if (isLong && at < range.to) return cutBefore(source, range, kept, pieces.openFrom());
    if (chunks.length === 0) break;
  }
  return { texts: toTexts(kept), next: range.to };
}

/** The beginning of an output, and where the rest begins. */
export interface Beginning {
  readonly texts: Texts;
  readonly next: Cursor;
}

/** What was kept before a position, which moves back where a kept line crosses it: nothing is read twice or never. */
async function cutBefore(
  source: TextSource,
  range: Range,
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
  { stream, filter }: Range,
  pieces: readonly TextPiece[],
): Promise<readonly TextPiece[]> {
  const wanted = stream === undefined ? pieces : pieces.filter((piece) => piece.stream === stream);
  if (filter === undefined || wanted.length === 0) return wanted;
  const lines = wanted.map(({ text }) => (text.endsWith('\n') ? text.slice(0, -1) : text));
  const matches = await matcher.test(filter, lines);
  return wanted.filter((_, index) => matches[index]);
}

// Characters have at least a byte each, so as many bytes are never too many.
async function readLongLine(source: TextSource, range: Range): Promise<Beginning> {
  const room = Math.max(range.maxChars, 64);
  const chunks = await readRange(source, range.from, Math.min(range.to, range.from + room));
  const end = range.from + sizeOf(chunks);
  const next = Math.max(range.from + 1, steadyEnd(chunks, end, false));
  const pieces = createLinePieces(range.from, range.view);
  const found = [...pieces.push(until(chunks, next - range.from)), ...pieces.rest()];
  return { texts: toTexts(await choose(source, range, found)), next };
}

function until(chunks: readonly OutputChunk[], bytes: number): OutputChunk[] {
  let left = bytes;
  return chunks.map(({ stream, data }) => {
    const part = data.subarray(0, Math.max(0, left));
    left -= data.length;
    return { stream, data: part };
  });
}
