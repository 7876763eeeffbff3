import type { Cursor, Stream } from '../../contract/job.ts';
import { formatBytes } from '../../output/amounts.ts';
import { findCompleteEnd, inspectedBytes } from '../../output/complete-end.ts';
import { countLines } from '../../output/count-lines.ts';
import { lastLines, lastWholeLines, shareLines, shareRoom } from '../../output/cut-ends.ts';
import { fromLineStart } from '../../output/resync.ts';
import { sanitise } from '../../output/sanitise.ts';
import { joinEnds } from '../../output/shape.ts';
import { readRange } from '../../support/tail.ts';
import { readBeginning } from './read-beginning.ts';
import { type TextQuery, type TextRange, type TextSource, type Texts, withoutSkipped } from './text-query.ts';

/** Result of `readText`. */
export interface ReadText {
  readonly stdout: string;
  readonly stderr: string;
  /** Cursor up to which the output counts as read. */
  readonly next: Cursor;
  /** Cursor of the middle that `keep: 'ends'` omitted; null if nothing was omitted. */
  readonly leftOutFrom: Cursor | null;
  /** About how many bytes that middle has. */
  readonly leftOutBytes: number | null;
  /** True if `maxChars` was too small: some output was omitted or left unread. */
  readonly isCut: boolean;
}

const bytesPerChar = 4;
/** Nothing was omitted in the middle. */
const nothing = { leftOutFrom: null, leftOutBytes: null };

/** Reads a part of a log as at most `maxChars`; an incomplete character, escape sequence or filtered line stays unread. */
export async function readText(source: TextSource, query: TextQuery): Promise<ReadText> {
  const to = query.final ? query.end : await findSteadyEnd(source, query);
  const whole = { ...query, to };
  if (query.keep === 'end') return readEnd(source, whole);
  if (query.keep === 'beginning' || query.filter !== undefined) {
    const { texts, next } = await readBeginning(source, whole);
    return { ...texts, next, ...nothing, isCut: next < to };
  }
  return readEnds(source, whole);
}

async function findSteadyEnd(source: TextSource, { from, end, filter }: TextQuery): Promise<Cursor> {
  const chunks = await readRange(source.read, Math.max(from, end - inspectedBytes), end);
  return Math.max(from, findCompleteEnd(chunks, end, filter !== undefined));
}

async function readEnds(source: TextSource, range: TextRange): Promise<ReadText> {
  const { maxLines = Number.POSITIVE_INFINITY } = range;
  const half = { maxChars: Math.ceil(range.maxChars / 2), maxLines: Math.ceil(maxLines / 2) };
  const head = await readBeginning(source, { ...range, ...half });
  if (head.next === range.to) return { ...head.texts, next: head.next, ...nothing, isCut: false };
  const room = Math.max(1, range.maxChars - head.texts.stdout.length - head.texts.stderr.length);
  const shownLines = countLines(head.texts.stdout) + countLines(head.texts.stderr);
  const rest = { ...range, from: head.next, maxChars: room, maxLines: Math.max(1, maxLines - shownLines) };
  const second = await readBeginning(source, rest);
  if (second.next === range.to) {
    return { ...joinTexts(head.texts, second.texts), next: range.to, ...nothing, isCut: false };
  }
  const { texts: tail } = await readTail(source, rest);
  const shown = Buffer.byteLength(tail.stdout) + Buffer.byteLength(tail.stderr);
  const leftOutBytes = Math.max(1, range.to - head.next - shown);
  const texts = joinTexts(head.texts, tail, toNotice(range, head.next, leftOutBytes));
  return { ...texts, next: range.to, leftOutFrom: head.next, leftOutBytes, isCut: true };
}

async function readEnd(source: TextSource, range: TextRange): Promise<ReadText> {
  const { texts, isCut } = await readTail(source, range);
  return { ...texts, next: range.to, ...nothing, isCut };
}

async function readTail(
  source: TextSource,
  range: TextRange,
): Promise<{ readonly texts: Texts; readonly isCut: boolean }> {
  const start = Math.max(range.from, range.to - range.maxChars * bytesPerChar);
  const chunks = await readRange(source.read, start, range.to);
  const unread = withoutSkipped(chunks, start, range.skip);
  const toText = (stream: Stream) => {
    if (range.stream !== undefined && range.stream !== stream) return '';
    const own = Buffer.concat(unread.filter((chunk) => chunk.stream === stream).map(({ data }) => data));
    const isMidLine = start > range.from && chunks[0]?.stream === stream;
    const readable = isMidLine ? fromLineStart(own) : own;
    return range.view === 'raw' ? Buffer.from(readable).toString() : sanitise(readable);
  };
  const [stdout, stderr] = [toText('stdout'), toText('stderr')];
  const { maxLines = Number.POSITIVE_INFINITY } = range;
  const [outRoom, errRoom] = shareRoom(stdout.length, stderr.length, range.maxChars);
  const [outLines, errLines] = shareLines(countLines(stdout), countLines(stderr), maxLines);
  const texts = { stdout: lastPart(stdout, outRoom, outLines), stderr: lastPart(stderr, errRoom, errLines) };
  const isCut = start > range.from || texts.stdout !== stdout || texts.stderr !== stderr;
  return { texts, isCut };
}

function lastPart(text: string, chars: number, lines: number): string {
  return lastLines(lastWholeLines(text, chars), lines);
}

function toNotice({ howToReadOn }: TextRange, from: Cursor, bytes: number): string {
  const how = howToReadOn(from);
  return `[Output truncated: about ${formatBytes(bytes)} left out.${how === '' ? '' : ` ${how}`}]`;
}

// The notice appears once, in a stream that has text.
function joinTexts(head: Texts, tail: Texts, notice?: string): Texts {
  if (notice === undefined) return { stdout: head.stdout + tail.stdout, stderr: head.stderr + tail.stderr };
  const inStdout = head.stdout !== '' || tail.stdout !== '' || tail.stderr === '';
  const cut = (stream: Stream) => joinEnds({ head: head[stream], tail: tail[stream], joined: false }, notice);
  return inStdout
    ? { stdout: cut('stdout'), stderr: head.stderr + tail.stderr }
    : { stdout: '', stderr: cut('stderr') };
}
