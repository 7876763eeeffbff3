// Finds secrets by digests, so that their values stay on their machine:
// 1. the far side calls `toSecretDigests`,
// 2. the near side computes checksums of all windows of a text, as in the algorithm of Rabin and Karp,
// 3. where the checksums of both ends of a secret match, an HMAC confirms it.
import { createHmac, randomBytes } from 'node:crypto';
import {
  longestSecret,
  mostBeginnings,
  mostSecrets,
  type SecretDigest,
  type SecretDigests,
  shortestSecret,
} from '../contract/secret-digests.ts';
import { lastBlank } from './last-blank.ts';

/** Positions in a text: `from` to before `to`. */
export type SecretRange = readonly [from: number, to: number];

/** Finds the secrets of `SecretDigests` in text in `latin1`, which has one character per byte. */
export interface SecretFinder {
  /** The ranges of secrets, in order and without overlaps. */
  find(bytes: string): readonly SecretRange[];
  /** The number of characters at the end that may be the beginning of a secret. */
  openEnd(bytes: string): number;
}

/** Digests of these values with a new key. */
export function toSecretDigests(values: readonly string[]): SecretDigests {
  const key = randomBytes(16).toString('hex');
  const pieces = new Set(values.flatMap((value) => divide(Buffer.from(value).toString('latin1'))));
  return { key, secrets: [...pieces].slice(0, mostSecrets).map((piece) => toDigest(piece, key)) };
}

function divide(value: string): readonly string[] {
  const count = Math.ceil(value.length / longestSecret);
  const pieces = Array.from({ length: count }, (_, at) =>
    value.slice(at * longestSecret, (at + 1) * longestSecret),
  );
  return pieces.filter((piece) => piece.length >= shortestSecret);
}

function toDigest(secret: string, key: string): SecretDigest {
  const window = windowOf(secret.length);
  const blanks = [...secret.matchAll(/\s/g)].slice(0, mostBeginnings);
  return {
    bytes: secret.length,
    first: sumOf(secret.slice(0, window)),
    last: sumOf(secret.slice(-window)),
    digest: sign(secret, key),
    beginnings: blanks.map(({ index }) => [index + 1, sumOf(secret.slice(0, index + 1))]),
  };
}

// Powers of two only: the number of passes over a text does not grow with the number of secrets.
function windowOf(bytes: number): number {
  return 2 ** Math.floor(Math.log2(bytes));
}

const modulus = 65_521;
const base = 257;

function sumOf(bytes: string): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 1) sum = (sum * base + bytes.charCodeAt(at)) % modulus;
  return sum;
}

/** The checksums of all windows of a text, by their position. */
function sumWindows(bytes: string, window: number): Uint16Array {
  const sums = new Uint16Array(Math.max(0, bytes.length - window + 1));
  let power = 1;
  for (let count = 1; count < window; count += 1) power = (power * base) % modulus;
  let sum = sumOf(bytes.slice(0, window));
  for (let at = 0; at < sums.length; at += 1) {
    sums[at] = sum;
    const rest = (sum + modulus * 256 - bytes.charCodeAt(at) * power) % modulus;
    sum = (rest * base + (bytes.charCodeAt(at + window) || 0)) % modulus;
  }
  return sums;
}

function sign(bytes: string, key: string): string {
  return createHmac('sha256', key).update(bytes, 'latin1').digest('hex');
}

/** Creates a finder for the secrets of one machine. */
export function createSecretFinder({ key, secrets }: SecretDigests): SecretFinder {
  const windows = [...new Set(secrets.map(({ bytes }) => windowOf(bytes)))];
  const groups = windows.map((window) => toGroup(window, secrets));
  const longest = Math.max(1, ...secrets.map(({ bytes }) => bytes));
  const beginnings = new Set(secrets.flatMap((secret) => secret.beginnings.map(toNumber)));
  const longestBeginning = Math.max(
    0,
    ...secrets.flatMap((secret) => secret.beginnings.map(([bytes]) => bytes)),
  );
  return {
    find(bytes) {
      const search = { bytes, key, candidates: 0 };
      const ranges = groups.flatMap((group) => findIn(search, group));
      return search.candidates > mostCandidates ? [[0, bytes.length]] : join(ranges);
    },
    openEnd(bytes) {
      const blank = lastBlank(bytes);
      const word = bytes.length - 1 - blank;
      const words = bytes.slice(Math.max(0, blank + 1 - longestBeginning), blank + 1);
      return Math.min(longest - 1, word + openWords(words, beginnings));
    },
  };
}

/** Secrets with windows of one size, by their first checksum. */
interface Group {
  readonly window: number;
  readonly byFirst: ReadonlyMap<number, readonly SecretDigest[]>;
}

function toGroup(window: number, secrets: readonly SecretDigest[]): Group {
  const byFirst = new Map<number, SecretDigest[]>();
  for (const secret of secrets)
    if (windowOf(secret.bytes) === window)
      byFirst.set(secret.first, [...(byFirst.get(secret.first) ?? []), secret]);
  return { window, byFirst };
}

interface Search {
  readonly bytes: string;
  readonly key: string;
  candidates: number;
}

// Checksums of another machine can match everywhere. Then confirming the matches would take too long, and the whole text is hidden.
const mostCandidates = 20_000;

function findIn(search: Search, { window, byFirst }: Group): readonly SecretRange[] {
  const { bytes, key } = search;
  const sums = sumWindows(bytes, window);
  const ranges: SecretRange[] = [];
  for (let from = 0; from < sums.length && search.candidates <= mostCandidates; from += 1)
    for (const { bytes: count, last, digest } of byFirst.get(sums[from] ?? 0) ?? []) {
      search.candidates += 1;
      if (sums[from + count - window] !== last) continue;
      if (sign(bytes.slice(from, from + count), key) === digest) ranges.push([from, from + count]);
    }
  return ranges;
}

/** Joins ranges that overlap. */
function join(ranges: readonly SecretRange[]): readonly SecretRange[] {
  const joined: [number, number][] = [];
  for (const [from, to] of ranges.toSorted(([one], [other]) => one - other)) {
    const last = joined.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

// Combines both into one number, because a Set of numbers is faster than a Set of texts.
function toNumber([bytes, sum]: readonly [number, number]): number {
  return bytes * modulus + sum;
}

/** The length of the longest beginning of a secret that a text ends with, by its checksum. */
function openWords(bytes: string, beginnings: ReadonlySet<number>): number {
  let [longest, sum, power] = [0, 0, 1];
  for (let count = 1; count <= bytes.length; count += 1) {
    sum = (sum + bytes.charCodeAt(bytes.length - count) * power) % modulus;
    power = (power * base) % modulus;
    if (beginnings.has(toNumber([count, sum]))) longest = count;
  }
  return longest;
}
