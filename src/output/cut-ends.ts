import { countLines } from './count-lines.ts';
import { lastChars, type TextEnds } from './head-tail.ts';
import { safeCut } from './surrogates.ts';

/** The most characters and lines that a text may have. */
interface TextRoom {
  readonly chars: number;
  readonly lines: number;
}

/** Cuts the two ends of a text to a room: at line ends, unless a single line is longer or `atLines` is false. */
export function cutEnds(ends: TextEnds, { chars, lines }: TextRoom, atLines = true): TextEnds {
  const length = ends.head.length + ends.tail.length;
  if (ends.joined && length <= chars && countLines(ends.head) + countLines(ends.tail) <= lines) return ends;
  const from = ends.joined ? { head: ends.head + ends.tail, tail: ends.head + ends.tail } : ends;
  const headRoom = Math.max(Math.ceil(chars / 2), chars - from.tail.length);
  const head = firstLines(from.head.slice(0, safeCut(from.head, headRoom)), Math.ceil(lines / 2));
  const tailLines = Math.max(1, Math.floor(lines / 2));
  const tailRoom = chars - head.length;
  if (!atLines) return { head, tail: lastLines(lastChars(from.tail, tailRoom), tailLines), joined: false };
  const isPartial = !ends.joined && !ends.startsAtLine;
  const wholeLines = isPartial ? startAtLine(from.tail) : from.tail;
  const tail = lastLines(lastWholeLines(wholeLines, tailRoom), tailLines);
  return { head: endAtLine(head), tail, joined: false };
}

/** Divides one limit between stdout and stderr: stdout is shortened first, to a quarter of the limit, and then stderr. */
export function shareRoom(stdout: number, stderr: number, limit: number): readonly [number, number] {
  const forStderr = Math.min(stderr, limit - Math.min(stdout, Math.floor(limit / 4)));
  return [Math.min(stdout, limit - forStderr), forStderr];
}

/** Like `shareRoom` for lines; a text without a line break is one line too. */
export function shareLines(stdout: number, stderr: number, limit: number): readonly [number, number] {
  if (stdout + stderr <= limit) return [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  const [forStdout, forStderr] = shareRoom(stdout, stderr, limit);
  return [Math.max(2, forStdout), Math.max(2, forStderr)];
}

/** The last characters of a text, from the start of a line on unless a single line is longer. */
export function lastWholeLines(text: string, chars: number): string {
  const part = lastChars(text, chars);
  const before = text.at(-part.length - 1);
  return part === text || (part !== '' && before === '\n') ? part : startAtLine(part);
}

/** The end of a text from its first line start on; all of it if no whole line follows. */
function startAtLine(text: string): string {
  const start = text.indexOf('\n') + 1;
  return start === text.length ? text : text.slice(start);
}

/** The last lines of a text. */
export function lastLines(text: string, lines: number): string {
  let at = text.endsWith('\n') ? text.length - 1 : text.length;
  for (let count = 0; count < lines; count += 1) {
    if (at <= 0) return text;
    at = text.lastIndexOf('\n', at - 1);
    if (at === -1) return text;
  }
  return text.slice(at + 1);
}

function firstLines(text: string, lines: number): string {
  let end = 0;
  for (let count = 0; count < lines; count += 1) {
    const next = text.indexOf('\n', end);
    if (next === -1) return text;
    end = next + 1;
  }
  return text.slice(0, end);
}

function endAtLine(head: string): string {
  return head.slice(0, head.lastIndexOf('\n') + 1 || head.length);
}
