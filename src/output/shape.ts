// Two streams become one reply of bounded size:
// 1. collect-text.ts reads each stream: binary.ts detects binary data, sanitise.ts makes text safe, and head-tail.ts
//    keeps its two ends;
// 2. `splitLimit` divides the limit between the streams, `cutEnds` cuts each to its share;
// 3. one notice says how much was left out and how to get it.
import { formatBytes, formatCount } from './amounts.ts';
import { type CollectedText, collectText, type StreamBytes } from './collect-text.ts';
import { lastChars, type TextEnds } from './head-tail.ts';
import { safeCut } from './surrogates.ts';

/** Options of `shapeOutput`. */
export interface ShapeOutputOptions {
  /** Maximum characters of both streams together, without the notice. */
  readonly maxChars: number;
  /** A sentence for the notice that says how to get the rest, such as by `read_output`. */
  readonly how: string;
  /** Cuts at line ends if that loses less than a tenth of the kept text; true by default. */
  readonly cutAtLines?: boolean | undefined;
}

/** The amount left out: characters, or approximate bytes of a stream of which only the ends were read. */
export interface Truncation {
  readonly omittedChars?: number;
  readonly omittedBytes?: number;
  /** The line inserted into the text. */
  readonly notice: string;
}

/** The text of both streams, ready for a reply. */
export interface ShapedOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: Truncation | null;
}

/** Converts two streams to safe text and cuts it to one common limit. */
export function shapeOutput(
  streams: { readonly stdout: StreamBytes; readonly stderr: StreamBytes },
  { maxChars, how, cutAtLines }: ShapeOutputOptions,
): ShapedOutput {
  const out = collectText(streams.stdout, maxChars);
  const err = collectText(streams.stderr, maxChars);
  const [outRoom, errRoom] = splitLimit(demand(out), demand(err), maxChars);
  const stdout = cutEnds(out, outRoom, cutAtLines);
  const stderr = cutEnds(err, errRoom, cutAtLines);
  const omissions = [omission(out, stdout), omission(err, stderr)] as const;
  const truncated = truncation(omissions, how);
  const stderrMark = omissions[0] ? `[${describe([omissions[1]])} left out here.]` : truncated?.notice;
  return {
    stdout: out.binary ?? joinEnds(stdout, truncated?.notice ?? ''),
    stderr: err.binary ?? joinEnds(stderr, stderrMark ?? ''),
    truncated,
  };
}

/** Joins the two ends, with the notice on its own line unless they are `joined`. */
export function joinEnds({ head, tail, joined }: TextEnds, notice: string): string {
  if (joined) return head + tail;
  const border = head === '' || head.endsWith('\n') ? '' : '\n';
  return `${head}${border}${notice}\n${tail}`;
}

interface Omission {
  readonly unit: 'chars' | 'bytes';
  readonly amount: number;
}

function demand({ head, tail, joined, total }: CollectedText): number {
  return joined || total.unit === 'bytes' ? head.length + tail.length : total.amount;
}

// Removed escape sequences count as left out, so `describe` says "about" for bytes.
function omission({ total }: CollectedText, kept: TextEnds): Omission | undefined {
  if (kept.joined) return undefined;
  const text = kept.head + kept.tail;
  const keptAmount = total.unit === 'chars' ? text.length : Buffer.byteLength(text);
  return { unit: total.unit, amount: Math.max(1, total.amount - keptAmount) };
}

function truncation(omissions: readonly (Omission | undefined)[], how: string): Truncation | null {
  if (omissions.every((one) => one === undefined)) return null;
  const omittedChars = sum(omissions, 'chars');
  const omittedBytes = sum(omissions, 'bytes');
  return {
    ...(omittedChars > 0 && { omittedChars }),
    ...(omittedBytes > 0 && { omittedBytes }),
    notice: `[Output truncated: ${describe(omissions)} left out. ${how}]`,
  };
}

function describe(omissions: readonly (Omission | undefined)[]): string {
  const chars = sum(omissions, 'chars');
  const bytes = sum(omissions, 'bytes');
  const parts = [];
  if (bytes > 0) parts.push(`about ${formatBytes(bytes)}`);
  if (chars > 0) parts.push(`${formatCount(chars)} ${chars === 1 ? 'character' : 'characters'}`);
  return parts.join(' and ');
}

function sum(omissions: readonly (Omission | undefined)[], unit: Omission['unit']): number {
  return omissions.reduce((total, one) => total + (one?.unit === unit ? one.amount : 0), 0);
}

/** Divides one limit between two texts; the unused share of a short one goes to the other. */
export function splitLimit(first: number, second: number, limit: number): readonly [number, number] {
  const half = Math.floor(limit / 2);
  if (first + second <= limit) return [first, second];
  if (first <= limit - half) return [first, limit - first];
  if (second <= half) return [limit - second, second];
  return [limit - half, half];
}

/** Cuts two ends to at most `maxChars` characters in total, at line ends if that loses less than `acceptedLoss`. */
export function cutEnds(ends: TextEnds, maxChars: number, atLines = true): TextEnds {
  if (ends.head.length + ends.tail.length <= maxChars) return ends;
  const from = ends.joined ? { head: ends.head + ends.tail, tail: ends.head + ends.tail } : ends;
  const headRoom = Math.max(Math.ceil(maxChars / 2), maxChars - from.tail.length);
  const head = from.head.slice(0, safeCut(from.head, headRoom));
  const tail = lastChars(from.tail, maxChars - head.length);
  if (!atLines) return { head, tail, joined: false };
  return {
    head: head.length < from.head.length ? endAtLine(head) : head,
    tail: tail.length < from.tail.length ? startAtLine(tail) : tail,
    joined: false,
  };
}

function endAtLine(head: string): string {
  const end = head.lastIndexOf('\n') + 1;
  return head.length - end < head.length * acceptedLoss ? head.slice(0, end) : head;
}

function startAtLine(tail: string): string {
  const start = tail.indexOf('\n') + 1;
  return start < tail.length * acceptedLoss ? tail.slice(start) : tail;
}

const acceptedLoss = 0.1;
