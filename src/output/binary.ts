import { formatCount } from './amounts.ts';
import { formatOf } from './magic-numbers.ts';
import type { NulMeaning } from './strip-vt.ts';
import { unfinishedBytes } from './utf8.ts';

/** The content of a stream: text, with the role of its NULs, or binary data in the format `what`. */
export type Content =
  | { readonly kind: 'text'; readonly nul: NulMeaning }
  | { readonly kind: 'binary'; readonly what: string };

/** The number of bytes at the start of a stream that `recogniseContent` inspects. */
export const sampleBytes = 8_192;

/**
 * Detects binary output by the first bytes of a stream.
 *
 * A few control characters, invalid bytes or stray NULs do not make text binary. NULs are record separators, as in
 * `find -print0`, `env -0` or `git … -z`, if they are at least as frequent as line ends, most records are not empty, and
 * almost everything else is text.
 */
export function recogniseContent(firstBytes: Uint8Array): Content {
  const sample = firstBytes.subarray(0, sampleBytes);
  const counts = survey(sample);
  if (counts.odd === 0 && counts.nul === 0) return plainText;
  const format = sample.length >= fewestBytes ? formatOf(sample) : undefined;
  if (format?.certain) return { kind: 'binary', what: format.name };
  if (isNulSeparated(sample, counts)) return { kind: 'text', nul: 'newline' };
  const odd = counts.odd + counts.nul;
  if (format && (counts.nul > 0 || odd > sample.length * 0.05)) return { kind: 'binary', what: format.name };
  if (isUtf16(sample, counts)) return { kind: 'binary', what: 'UTF-16 text' };
  // Text in Latin-1 and similar encodings has up to 14 % of odd bytes, random data more than 50 %.
  const isBinary = odd >= fewestOddBytes && odd > sample.length * 0.2;
  return isBinary ? { kind: 'binary', what: 'data that is not UTF-8 text' } : plainText;
}

/** The line that replaces binary output: its format (`what`), its size, and how to get it. */
export function binaryNotice(what: string, totalBytes: number): string {
  const hint =
    what === 'UTF-16 text' ? 'pipe it through iconv -f UTF-16' : 'pipe it through base64 or xxd | head';
  return `[Binary output: ${what}, ${formatCount(totalBytes)} bytes. Redirect it to a file, or ${hint}.]`;
}

const plainText: Content = { kind: 'text', nul: 'picture' };

// Every file that `formatOf` recognises is at least this long; a shorter sample is more likely text with an invalid byte.
const fewestBytes = 16;

// With fewer odd bytes the sample stays text: a reader can skip a few U+FFFD.
const fewestOddBytes = 32;

interface Counts {
  readonly nul: number;
  readonly lineEnds: number;
  /** Control characters other than `usedInText`, and bytes that are not UTF-8. */
  readonly odd: number;
}

function survey(sample: Uint8Array): Counts {
  let nul = 0;
  let lineEnds = 0;
  let odd = 0;
  let high = 0;
  for (let i = 0; i < sample.length; i += 1) {
    const byte = sample[i] ?? 0;
    if (byte >= 0x80) high += 1;
    else if (byte === 0) nul += 1;
    else if (byte === 0x0a) lineEnds += 1;
    else if (byte < 0x20 && !usedInText.has(byte)) odd += 1;
  }
  return { nul, lineEnds, odd: high === 0 ? odd : odd + countInvalid(sample) };
}

/** BEL, backspace, TAB, FF, CR, the charset shifts and ESC. */
const usedInText = new Set([0x07, 0x08, 0x09, 0x0c, 0x0d, 0x0e, 0x0f, 0x1b]);

function countInvalid(sample: Uint8Array): number {
  const bytes = Buffer.from(sample.buffer, sample.byteOffset, sample.length - unfinishedBytes(sample));
  const written = bytes.toString('latin1').split('\xef\xbf\xbd').length;
  return bytes.toString('utf8').split('\ufffd').length - written;
}

function isNulSeparated(sample: Uint8Array, { nul, lineEnds, odd }: Counts): boolean {
  const endsWithNul = sample[sample.length - 1] === 0;
  if (nul < (endsWithNul ? 1 : 2) || nul < lineEnds || odd * 100 > sample.length) return false;
  const lengths = recordLengths(sample);
  const empty = lengths.filter((length) => length === 0).length;
  const single = lengths.filter((length) => length === 1).length;
  const looksLikeUtf16 = lengths.length >= fewestOddBytes && single > lengths.length * 0.8;
  return empty * 4 <= lengths.length && !looksLikeUtf16;
}

function recordLengths(sample: Uint8Array): number[] {
  const lengths: number[] = [];
  let start = 0;
  for (let end = sample.indexOf(0); end >= 0; end = sample.indexOf(0, start)) {
    lengths.push(end - start);
    start = end + 1;
  }
  return lengths;
}

// Western text in UTF-16 has a NUL at every second byte; other text is recognised only by its byte order mark (`hasMark`).
function isUtf16(sample: Uint8Array, { nul }: Counts): boolean {
  const [first, second] = sample;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  if (hasMark) return sample.length >= fewestBytes;
  return nul >= fewestOddBytes && nul * 5 > sample.length * 2 && isInEverySecondPlace(sample);
}

function isInEverySecondPlace(sample: Uint8Array): boolean {
  const places = [0, 0];
  for (let at = sample.indexOf(0); at >= 0; at = sample.indexOf(0, at + 1))
    places[at % 2] = (places[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = places;
  return Math.min(even, odd) * 20 <= Math.max(even, odd);
}
