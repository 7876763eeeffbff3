// A search through one output, a slice at a time, so that the worker can answer between two slices. It continues when
// more output arrives.
import { Growing } from './growing.ts';
import type { LogStore } from './log-store.ts';
import { compilePattern, type Pattern } from './pattern.ts';

/** A query: words, or a pattern between slashes. */
export interface Query {
  readonly text: string;
  readonly pattern: Pattern | undefined;
  /** A regular expression of the console itself, which runs in linear time and is matched against the bytes. */
  readonly fixed?: RegExp | undefined;
}

/** Reads what a person typed; throws a sentence for a pattern that is not valid. */
export function toQuery(typed: string): Query {
  const [, source] = /^\/(.+)\/$/s.exec(typed) ?? [];
  return { text: typed.toLowerCase(), pattern: source === undefined ? undefined : compilePattern(source) };
}

const sliceBytes = 1_048_576;
const sliceMs = 12;
const maxMatches = 1_000_000;

/** A search, and what it has found so far. */
export class Search {
  readonly #store: LogStore;
  readonly #query: Query;
  /** The line of each match. */
  readonly #lines = new Growing((length) => new Uint32Array(length));
  #next = 0;

  constructor(store: LogStore, query: Query) {
    this.#store = store;
    this.#query = query;
  }

  get count(): number {
    return this.#lines.length;
  }

  get isDone(): boolean {
    return this.#next >= this.#store.lines || this.#lines.length >= maxMatches;
  }

  lineOf(match: number): number {
    return this.#lines.at(match);
  }

  /** The first match at or after a line. */
  matchFrom(line: number): number {
    const before = this.#lines.findLast(line - 1);
    return before + 1 < this.#lines.length ? before + 1 : 0;
  }

  /** Up to `count` lines with matches, evenly selected, for marks next to the scroll bar. */
  marks(count: number): readonly number[] {
    const step = Math.max(1, Math.ceil(this.#lines.length / count));
    const lines: number[] = [];
    for (let index = 0; index < this.#lines.length; index += step) lines.push(this.#lines.at(index));
    return lines;
  }

  /** Searches for a few milliseconds. */
  step(): void {
    const until = performance.now() + sliceMs;
    this.#next = Math.max(this.#next, this.#store.firstLine);
    while (!this.isDone && performance.now() < until) {
      const { text, next, hasOdd } = this.#store.slice(this.#next, sliceBytes);
      const isLast = next === this.#next;
      // The last line is not complete yet; it is searched when it is.
      if (isLast) {
        this.#finish();
        return;
      }
      if (this.#query.fixed) this.#inText(text, this.#query.fixed);
      else if (this.#isPlain && !hasOdd) this.#inBytes(text);
      else {
        this.#inLines(next, until);
        continue;
      }
      this.#next = next;
    }
  }

  get #isPlain(): boolean {
    return this.#query.pattern === undefined && !notAscii.test(this.#query.text);
  }

  #inText(text: string, expression: RegExp): void {
    const first = this.#next;
    let last = -1;
    for (const { index } of text.matchAll(expression)) {
      const line = this.#store.lineIn(first, index);
      if (line !== last) this.#lines.push(line);
      last = line;
    }
  }

  #finish(): void {
    if (this.#store.lines > this.#next && this.isSealed) {
      this.#inLine(this.#next);
      this.#next += 1;
    }
  }

  /** True once nothing more is appended: then the last line is complete. */
  isSealed = false;

  // One character is one byte here, so the position of a match gives its line.
  #inBytes(text: string): void {
    const { text: wanted } = this.#query;
    const all = text.toLowerCase();
    const first = this.#next;
    for (let at = all.indexOf(wanted); at >= 0; at = all.indexOf(wanted, at + wanted.length))
      this.#lines.push(this.#store.lineIn(first, at));
  }

  #inLines(to: number, until: number): void {
    while (this.#next < to && (this.#next % 64 !== 0 || performance.now() < until)) {
      this.#inLine(this.#next);
      this.#next += 1;
    }
  }

  #inLine(line: number): void {
    const shown = this.#store.shown(line);
    for (let matches = countMatches(shown, this.#query); matches > 0; matches -= 1) this.#lines.push(line);
  }
}

const notAscii = /[^\u0000-\u007f]/;
// Patterns search only this many characters at the beginning of a line.
const longestLine = 65_536;

function countMatches(shown: string, { text, pattern, fixed }: Query): number {
  if (fixed) return shown.search(fixed) >= 0 ? 1 : 0;
  if (pattern)
    return pattern.matches(shown.length > longestLine ? shown.slice(0, longestLine) : shown) ? 1 : 0;
  const all = shown.toLowerCase();
  let count = 0;
  for (let at = all.indexOf(text); at >= 0; at = all.indexOf(text, at + text.length)) count += 1;
  return count;
}

/** The places where a query matches in a shown line, for highlighting. */
export function placesIn(shown: string, { text, pattern }: Query): readonly (readonly [number, number])[] {
  const places: [number, number][] = [];
  const all = shown.toLowerCase();
  for (let from = 0; places.length < 200 && from <= shown.length; ) {
    const at = pattern ? pattern.find(shown, from) : plainFind(all, text, from);
    if (at === undefined) break;
    if (at.length > 0) places.push([at.at, at.at + at.length]);
    from = at.at + Math.max(1, at.length);
  }
  return places;
}

function plainFind(all: string, text: string, from: number) {
  const at = text === '' ? -1 : all.indexOf(text, from);
  return at < 0 ? undefined : { at, length: text.length };
}
