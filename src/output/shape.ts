// Two streams become one reply of bounded size:
// 1. collect-text.ts reads each stream: binary.ts detects binary data, sanitise.ts makes text safe, and head-tail.ts
//    keeps its two ends;
// 2. `shareRoom` divides the limits between the streams, `cutEnds` cuts each to its share;
// 3. one notice says how much was left out and how to get it.
import { formatBytes, formatCount } from './amounts.ts';
import { type CollectedText, collectText, type StreamBytes } from './collect-text.ts';
import { countLines } from './count-lines.ts';
import { cutEnds, shareLines, shareRoom } from './cut-ends.ts';
import type { TextEnds } from './head-tail.ts';

/** Options of `shapeOutput`. */
export interface ShapeOutputOptions {
  /** Maximum characters of both streams together, without the notice. */
  readonly maxChars: number;
  /** A sentence for the notice that says how to get the rest, such as by `read_output`. */
  readonly how: string;
  /** Cuts at line ends, unless a single line is longer than the limit; true by default. */
  readonly cutAtLines?: boolean | undefined;
  /** Maximum lines of both streams together. */
  readonly maxLines?: number | undefined;
  /** Returns whether the texts fit into a reply; if not, they are cut further. */
  readonly fits?: ((stdout: string, stderr: string) => boolean) | undefined;
}

/** The amount left out: characters, or approximate bytes of a stream of which only the ends were read. */
export interface Truncation {
  readonly omittedChars?: number;
  readonly omittedBytes?: number;
  /** Lines, unless only the ends of a stream were read. */
  readonly omittedLines?: number;
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
  options: ShapeOutputOptions,
): ShapedOutput {
  const { maxChars, fits } = options;
  const texts = {
    stdout: collectText(streams.stdout, maxChars),
    stderr: collectText(streams.stderr, maxChars),
  };
  let chars = Math.min(maxChars, demand(texts.stdout) + demand(texts.stderr));
  for (;;) {
    const shaped = shapeTexts(texts, chars, options);
    if (!fits || chars < minFitChars || fits(shaped.stdout, shaped.stderr)) return shaped;
    chars = Math.floor(chars * shrinkFactor);
  }
}

const shrinkFactor = 0.9;
// A reply always has room for this much.
const minFitChars = 100;

function shapeTexts(
  { stdout: out, stderr: err }: Record<'stdout' | 'stderr', CollectedText>,
  chars: number,
  { how, cutAtLines, maxLines = Number.POSITIVE_INFINITY }: ShapeOutputOptions,
): ShapedOutput {
  const [outChars, errChars] = shareRoom(demand(out), demand(err), chars);
  const [outLines, errLines] = shareLines(linesOf(out), linesOf(err), maxLines);
  const stdout = cutEnds(out, { chars: outChars, lines: outLines }, cutAtLines);
  const stderr = cutEnds(err, { chars: errChars, lines: errLines }, cutAtLines);
  const omissions = [omission(out, stdout), omission(err, stderr)] as const;
  const truncated = truncation(omissions, how);
  const stderrMark = omissions[0] ? `[${describe([omissions[1]])} left out here.]` : truncated?.notice;
  return {
    stdout: out.binary ?? joinEnds(stdout, truncated?.notice ?? ''),
    stderr: err.binary ?? joinEnds(stderr, stderrMark ?? ''),
    truncated,
  };
}

function linesOf({ head, tail, total }: CollectedText): number {
  return total.lines ?? countLines(head) + countLines(tail);
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
  readonly lines: number | undefined;
}

function demand({ head, tail, joined, total }: CollectedText): number {
  return joined || total.unit === 'bytes' ? head.length + tail.length : total.amount;
}

// Removed escape sequences count as left out, so `describe` says "about" for bytes.
function omission({ total }: CollectedText, kept: TextEnds): Omission | undefined {
  if (kept.joined) return undefined;
  const text = kept.head + kept.tail;
  const keptAmount = total.unit === 'chars' ? text.length : Buffer.byteLength(text);
  const lines = total.lines === undefined ? undefined : total.lines - countLines(text);
  return { unit: total.unit, amount: Math.max(1, total.amount - keptAmount), lines };
}

function truncation(omissions: readonly (Omission | undefined)[], how: string): Truncation | null {
  if (omissions.every((one) => one === undefined)) return null;
  const omittedChars = sum(omissions, 'chars');
  const omittedBytes = sum(omissions, 'bytes');
  const omittedLines = sumLines(omissions);
  return {
    ...(omittedLines > 0 && { omittedLines }),
    ...(omittedChars > 0 && { omittedChars }),
    ...(omittedBytes > 0 && { omittedBytes }),
    notice: `[Output truncated: ${describe(omissions)} left out.${how === '' ? '' : ` ${how}`}]`,
  };
}

function describe(omissions: readonly (Omission | undefined)[]): string {
  const chars = sum(omissions, 'chars');
  const bytes = sum(omissions, 'bytes');
  const parts = [];
  if (bytes > 0) parts.push(`about ${formatBytes(bytes)}`);
  if (chars > 0) parts.push(`${formatCount(chars)} ${chars === 1 ? 'character' : 'characters'}`);
  const lines = sumLines(omissions);
  const inLines = lines > 0 ? ` (${formatCount(lines)} ${lines === 1 ? 'line' : 'lines'})` : '';
  return `${parts.join(' and ')}${inLines}`;
}

/** Lines left out of all streams; 0 if they are not known. */
function sumLines(omissions: readonly (Omission | undefined)[]): number {
  const lines = omissions.flatMap((one) => (one ? [one.lines] : []));
  return lines.reduce<number>((total, count) => total + (count ?? Number.NaN), 0) || 0;
}

function sum(omissions: readonly (Omission | undefined)[], unit: Omission['unit']): number {
  return omissions.reduce((total, one) => total + (one?.unit === unit ? one.amount : 0), 0);
}
