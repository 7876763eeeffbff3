import type { Backend } from '../contract/backend.ts';
import type { Cursor, OutputChunk, Stream } from '../contract/job.ts';
import { formatBytes } from '../output/amounts.ts';
import { splitLimit } from '../output/cut-text.ts';
import { lastChars } from '../output/head-tail.ts';
import { createLinePieces, type TextPiece, type TextView } from '../output/line-pieces.ts';
import type { Matcher } from '../output/matcher.ts';
import { fromLineStart } from '../output/resync.ts';
import { sanitise } from '../output/sanitise.ts';
import { joinEnds } from '../output/shape.ts';
import { heldBytes, steadyEnd } from '../output/steady-end.ts';
import { createStopwatch } from '../support/stopwatch.ts';

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

/** Some output as text. */
export interface ReadText {
  readonly stdout: string;
  readonly stderr: string;
  /** Up to where the output counts as read. */
  readonly next: Cursor;
  /** Where to read on to get what was left out between the ends; null when nothing was. */
  readonly leftOutFrom: Cursor | null;
  /** True when there was no room for all of it: something is left out, or left for the next time. */
  readonly isCut: boolean;
}

/** Where the bytes are, and who tests patterns. */
export interface TextSource {
  readonly backend: Pick<Backend, 'read'>;
  readonly matcher: Matcher;
  readonly id: string;
}

type Texts = Record<Stream, string>;

const pieceBytes = 65_536;
// A filter may leave out so much that a reader would wait for ever.
const filterMs = 2_000;
const bytesPerChar = 4;

/** Reads a part of an output as text of bounded size. Nothing is torn that is not finished yet. */
export async function readText(source: TextSource, query: TextQuery): Promise<ReadText> {
  const to = query.final ? query.end : await findSteadyEnd(source, query);
  const whole = { ...query, to };
  if (query.keep === 'end') return readEnd(source, whole);
  if (query.keep === 'beginning' || query.filter !== undefined) {
    const { texts, next } = await readBeginning(source, whole);
    return { ...texts, next, leftOutFrom: null, isCut: next < to };
  }
  return readEnds(source, whole);
}

interface Range extends TextQuery {
  /** How far is read at most. */
  readonly to: Cursor;
}

async function findSteadyEnd(source: TextSource, { from, end, filter }: TextQuery): Promise<Cursor> {
  const chunks = await readRange(source, Math.max(from, end - heldBytes), end);
  return Math.max(from, steadyEnd(chunks, end, filter !== undefined));
}

async function readEnds(source: TextSource, range: Range): Promise<ReadText> {
  const half = Math.ceil(range.maxChars / 2);
  const head = await readBeginning(source, { ...range, maxChars: half });
  if (head.next === range.to) return { ...head.texts, next: head.next, leftOutFrom: null, isCut: false };
  const room = Math.max(1, range.maxChars - head.texts.stdout.length - head.texts.stderr.length);
  const rest = { ...range, from: head.next, maxChars: room };
  const second = await readBeginning(source, rest);
  if (second.next === range.to) {
    return { ...joinTexts(head.texts, second.texts), next: range.to, leftOutFrom: null, isCut: false };
  }
  const { texts: tail } = await readTail(source, rest);
  const shown = Buffer.byteLength(tail.stdout) + Buffer.byteLength(tail.stderr);
  const notice = toNotice(range, head.next, range.to - head.next - shown);
  return { ...joinTexts(head.texts, tail, notice), next: range.to, leftOutFrom: head.next, isCut: true };
}

async function readEnd(source: TextSource, range: Range): Promise<ReadText> {
  const { texts, isCut } = await readTail(source, range);
  return { ...texts, next: range.to, leftOutFrom: null, isCut };
}

/** Whole lines from the beginning, as many as there is room for; of a line that is too long alone, a part. */
async function readBeginning(source: TextSource, range: Range): Promise<Beginning> {
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

interface Beginning {
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

async function readTail(
  source: TextSource,
  range: Range,
): Promise<{ readonly texts: Texts; readonly isCut: boolean }> {
  const start = Math.max(range.from, range.to - range.maxChars * bytesPerChar);
  const chunks = await readRange(source, start, range.to);
  const toText = (stream: Stream) => {
    if (range.stream !== undefined && range.stream !== stream) return '';
    const own = Buffer.concat(chunks.filter((chunk) => chunk.stream === stream).map(({ data }) => data));
    const isTorn = start > range.from && chunks[0]?.stream === stream;
    const readable = isTorn ? fromLineStart(own) : own;
    return range.view === 'raw' ? Buffer.from(readable).toString() : sanitise(readable);
  };
  const [stdout, stderr] = [toText('stdout'), toText('stderr')];
  const [outRoom, errRoom] = splitLimit(stdout.length, stderr.length, range.maxChars);
  const texts = { stdout: lastChars(stdout, outRoom), stderr: lastChars(stderr, errRoom) };
  return { texts, isCut: start > range.from || stdout.length > outRoom || stderr.length > errRoom };
}

async function readRange({ backend, id }: TextSource, from: Cursor, to: Cursor): Promise<OutputChunk[]> {
  const found: OutputChunk[] = [];
  for (let at = from; at < to; ) {
    const { chunks, next } = await backend.read(id, at, { waitMs: 0, maxBytes: to - at });
    if (next === at) break;
    found.push(...chunks);
    at = next;
  }
  return found;
}

function until(chunks: readonly OutputChunk[], bytes: number): OutputChunk[] {
  let left = bytes;
  return chunks.map(({ stream, data }) => {
    const part = data.subarray(0, Math.max(0, left));
    left -= data.length;
    return { stream, data: part };
  });
}

function sizeOf(chunks: readonly OutputChunk[]): number {
  return chunks.reduce((sum, { data }) => sum + data.length, 0);
}

function toNotice({ howToReadOn }: Range, from: Cursor, bytes: number): string {
  return `[Output truncated: about ${formatBytes(Math.max(1, bytes))} left out. ${howToReadOn(from)}]`;
}

// The notice stands where something was read, once.
function joinTexts(head: Texts, tail: Texts, notice?: string): Texts {
  if (notice === undefined) return { stdout: head.stdout + tail.stdout, stderr: head.stderr + tail.stderr };
  const inStdout = head.stdout !== '' || tail.stdout !== '' || tail.stderr === '';
  const cut = (stream: Stream) => joinEnds({ head: head[stream], tail: tail[stream], joined: false }, notice);
  return inStdout
    ? { stdout: cut('stdout'), stderr: head.stderr + tail.stderr }
    : { stdout: '', stderr: cut('stderr') };
}
