// Two streams become one reply of bounded size:
// 1. collect-text.ts reads each stream: binary.ts recognises what is no text, sanitise.ts makes the rest safe, and
//    head-tail.ts keeps its ends;
// 2. splitLimit gives each stream its share of the limit, cutEnds cuts it to that share (cut-text.ts);
// 3. one notice says how much was left out and how to get it.
import { formatBytes, formatCount } from './amounts.ts';
import { type CollectedText, collectText, type StreamBytes } from './collect-text.ts';
import { cutEnds, splitLimit } from './cut-text.ts';
import type { TextEnds } from './head-tail.ts';

/** How much may be kept, and what to tell a reader who wants the rest. */
export interface ShapeOptions {
  /** Characters of both streams together, without the notice. */
  readonly maxChars: number;
  /** A sentence that says how to get what was left out. */
  readonly how: string;
  /** Ends the kept parts at line ends where that costs less than a tenth of them; true unless said otherwise. */
  readonly cutAtLines?: boolean | undefined;
}

/** What was left out: characters, and bytes (about) of a stream of which only the ends were read. */
export interface Truncation {
  readonly omittedChars?: number;
  readonly omittedBytes?: number;
  /** The line that stands in the text. */
  readonly notice: string;
}

/** The text of both streams, ready for a reply. */
export interface ShapedOutput {
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: Truncation | null;
}

/** Makes safe text of two streams and cuts it to the limit that they share. */
export function shapeOutput(
  streams: { readonly stdout: StreamBytes; readonly stderr: StreamBytes },
  { maxChars, how, cutAtLines }: ShapeOptions,
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

/** Puts the two ends together again, with a notice on a line of its own where something is missing. */
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

// Bytes of sequences that were removed count as left out, hence the "about" in what is said of bytes.
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
