// A part of the output of one command, with an index of its lines. Bytes stay bytes until a line is shown or searched. At
// most 64 MB are kept; `Fetches` gets the bytes before and after them again when they are needed.
import { applySgr, plain } from './colours.ts';
import { groupLines, LineTable } from './line-table.ts';
import { countCells, type ShownPiece, showLine, toShownText } from './visible-text.ts';

/** A line as the page shows it. */
export interface Row {
  readonly line: number;
  /** Its number, from 1; null if it is not known how many lines are before it. */
  readonly number: number | null;
  readonly cursor: number;
  readonly pieces: readonly ShownPiece[];
  readonly ms: number;
  /** True for the first line within a second; only its time is shown. */
  readonly isNewSecond: boolean;
  readonly isError: boolean;
  readonly fromStderr: boolean;
  /** Bytes of a long line that are not shown. */
  readonly more: number;
}

/** Bytes of one stream that arrived at the same time. */
export interface LogPiece {
  readonly bytes: Uint8Array;
  readonly ms: number;
  readonly isStderr: boolean;
}

/** Flags of a line. */
const stderrFlag = 1;
const errorFlag = 2;

/** The most bytes of one output that are kept. */
export const keptBytes = 64 * 1_048_576;
const shownLineBytes = 4_096;
// The id of the first line if the lines before it are not counted; lines that are fetched later get smaller ids.
const uncounted = 1_000_000_000;

/** The lines of a part of an output. */
export class LogStore {
  #bytes = new Uint8Array(65_536);
  #used = 0;
  /** The cursor of the first byte that is kept. */
  #base: number;
  readonly #table: LineTable;
  /** The id of line 1; undefined if it is not known. */
  #numberedFrom: number | undefined;
  #state = plain;
  #unfinished = '';
  #skippedBytes = 0;
  #arrived = 0;

  constructor(from: number, firstLine = from === 0 ? 0 : uncounted) {
    this.#base = from;
    this.#numberedFrom = from === 0 ? firstLine : undefined;
    this.#table = new LineTable(firstLine);
    this.#begin(0, 0);
  }

  /** The cursor after everything that is kept. */
  get end(): number {
    return this.#base + this.#used;
  }

  /** The cursor of the first byte that is kept. */
  get firstCursor(): number {
    return this.#base;
  }

  /** Whether more bytes fit without dropping any. */
  hasRoom(more: number): boolean {
    return this.#used + more <= keptBytes;
  }

  get skippedBytes(): number {
    return this.#skippedBytes;
  }

  /** The id of the first line that is kept. */
  get firstLine(): number {
    return this.#table.first;
  }

  /** The id after the last line, without the empty one after a last line break. */
  get lines(): number {
    const isEmpty = this.#table.lastStart === this.#used;
    return this.#table.first + this.#table.count - (isEmpty ? 1 : 0);
  }

  /** The number of lines from the beginning of the output; if the lines before the kept part are not counted, the lines of that part. */
  get count(): number {
    return this.lines - (this.#numberedFrom ?? this.#table.first);
  }

  /** Whether the lines before the first one are counted. */
  get isNumbered(): boolean {
    return this.#numberedFrom !== undefined;
  }

  /** How many lines have been appended so far. */
  get arrived(): number {
    return this.#arrived;
  }

  /** Notes that bytes before the next append were skipped. */
  skip(to: number): void {
    this.#skippedBytes += to - this.end;
    this.#bytes = new Uint8Array(65_536);
    this.#table.clear(Math.max(uncounted, this.lines));
    this.#numberedFrom = undefined;
    this.#used = 0;
    this.#base = to;
    this.#state = plain;
    this.#unfinished = '';
    this.#begin(0, 0);
  }

  append(bytes: Uint8Array, ms: number, isStderr: boolean): void {
    this.#makeRoom(bytes.length);
    const from = this.#used;
    this.#bytes.set(bytes, from);
    this.#used += bytes.length;
    const flag = isStderr ? stderrFlag : 0;
    // A line gets the time and stream of its first byte.
    if (this.#table.lastStart === from) this.#table.renew(ms, flag);
    const hasSequences = this.#unfinished !== '' || bytes.indexOf(27) >= 0;
    let begin = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, begin)) {
      if (hasSequences) this.#follow(bytes.subarray(begin, at + 1));
      begin = at + 1;
      this.#arrived += 1;
      this.#begin(from + begin, ms, flag);
    }
    if (hasSequences) this.#follow(bytes.subarray(begin));
  }

  /** Inserts pieces before the first byte that is kept. They begin at the cursor `from`; if they do not end at that byte, they are ignored. */
  prepend(pieces: readonly LogPiece[], from: number): void {
    const added = pieces.reduce((sum, { bytes }) => sum + countBreaks(bytes), 0);
    const head = new LogStore(from, this.#table.first - added);
    for (const { bytes, ms, isStderr } of pieces) head.append(bytes, ms, isStderr);
    if (head.end !== this.#base) return;
    const all = new Uint8Array(head.#used + this.#used + 65_536);
    all.set(head.#bytes.subarray(0, head.#used));
    all.set(this.#bytes.subarray(0, this.#used), head.#used);
    this.#table.prepend(head.#table, head.#used);
    this.#bytes = all;
    this.#used += head.#used;
    this.#base = from;
    if (from === 0) this.#numberedFrom ??= this.#table.first;
  }

  #begin(at: number, ms: number, flag = 0): void {
    this.#table.begin(at, ms, flag, this.#state);
  }

  // The colours at the end of a piece are those of its last sequences; a sequence may be cut in two.
  #follow(bytes: Uint8Array): void {
    if (this.#unfinished === '' && bytes.indexOf(27) < 0) return;
    const text = this.#unfinished + latin.decode(bytes);
    this.#unfinished = '';
    let from = 0;
    for (let at = text.indexOf('\u001b', from); at >= 0; at = text.indexOf('\u001b', from)) {
      if (text[at + 1] !== '[' && at + 1 < text.length) {
        from = at + 1;
        continue;
      }
      const found = /^\[([0-9;:]{0,64})(.?)/s.exec(text.slice(at + 1, at + 80));
      if (found === null || found[2] === '') {
        this.#unfinished = text.slice(at).length < 80 ? text.slice(at) : '';
        return;
      }
      if (found[2] === 'm') this.#state = applySgr(this.#state, found[1] ?? '');
      from = at + 1;
    }
  }

  #makeRoom(more: number): void {
    if (!this.hasRoom(more)) this.#dropHalf();
    if (this.#used + more <= this.#bytes.length) return;
    const grown = new Uint8Array(
      Math.min(keptBytes + more, Math.max(this.#bytes.length * 2, this.#used + more)),
    );
    grown.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = grown;
  }

  /** The beginning of the group that contains the middle byte; undefined if that is the first group. */
  halfLine(): number | undefined {
    const half = this.#table.first + this.#table.find(this.#used / 2);
    const line = half - (half % groupLines);
    return line > this.#table.first ? line : undefined;
  }

  // Drops everything if the second half does not begin with a new group.
  #dropHalf(): void {
    const line = this.halfLine();
    if (line === undefined) this.skip(this.end);
    else this.dropBefore(line);
  }

  /** Drops the lines before `line`, which begins a group. */
  dropBefore(line: number): void {
    const bytes = this.#table.dropBefore(line);
    this.#bytes.copyWithin(0, bytes, this.#used);
    this.#used -= bytes;
    this.#base += bytes;
  }

  /** Drops lines at the end while more than `keptBytes` are kept; returns true if lines were dropped. */
  dropEnd(): boolean {
    if (this.hasRoom(0)) return false;
    const index = Math.max(1, this.#table.find(keptBytes));
    this.#used = this.#table.start(index);
    this.#table.keepFirst(index + 1);
    this.#state = this.#stateAt(this.#table.first + index);
    this.#unfinished = '';
    return true;
  }

  /** The bytes of a line, without its line break. */
  #bytesOf(index: number): Uint8Array {
    const from = this.#table.start(index);
    const to = index + 1 < this.#table.count ? this.#table.start(index + 1) - 1 : this.#used;
    return this.#bytes.subarray(from, Math.max(from, to));
  }

  /** Lines as they are shown. */
  rows(from: number, count: number): readonly Row[] {
    const first = Math.max(from, this.firstLine);
    const last = Math.min(from + count, this.lines);
    if (last <= first) return [];
    let state = this.#stateAt(first);
    const rows: Row[] = [];
    for (let line = first; line < last; line += 1) {
      const row = this.#toRow(line, state);
      state = row.state;
      rows.push(row.shown);
    }
    return rows;
  }

  #toRow(line: number, before: number): { readonly shown: Row; readonly state: number } {
    const table = this.#table;
    const index = line - table.first;
    const bytes = this.#bytesOf(index);
    const isLong = bytes.length > shownLineBytes;
    const text = utf8.decode(isLong ? bytes.subarray(0, shownLineBytes) : bytes);
    const { pieces, state } = showLine(text, before);
    const flags = table.flags(index);
    const ms = table.time(index);
    const shown = {
      line,
      number: this.#numberedFrom === undefined ? null : line - this.#numberedFrom + 1,
      cursor: this.#base + table.start(index),
      pieces,
      ms,
      isNewSecond: index === 0 || secondOf(ms) !== secondOf(table.time(index - 1)),
      isError: (flags & errorFlag) !== 0,
      fromStderr: (flags & stderrFlag) !== 0,
      more: isLong ? bytes.length - shownLineBytes : 0,
    };
    return { shown, state };
  }

  #stateAt(line: number): number {
    const { state: before, from } = this.#table.stateBefore(line);
    let state = before;
    for (let at = from; at < line; at += 1) {
      const bytes = this.#bytesOf(at - this.firstLine);
      if (bytes.indexOf(27) >= 0)
        state = showLine(utf8.decode(bytes.subarray(0, shownLineBytes)), state).state;
    }
    return state;
  }

  /** The text of lines as it is shown, for copying. */
  text(from: number, to: number): string {
    const lines: string[] = [];
    for (let line = Math.max(from, this.firstLine); line < Math.min(to, this.lines); line += 1)
      lines.push(this.shown(line));
    return lines.join('\n');
  }

  /** The line that contains the byte at a cursor. */
  lineAt(cursor: number): number {
    return this.firstLine + Math.max(0, this.#table.find(Math.max(0, cursor - this.#base)));
  }

  /** The cursor of the first byte of a line. */
  cursorOf(line: number): number {
    return this.#base + this.#table.start(Math.max(0, line - this.firstLine));
  }

  /** How many rows a line takes when it is wrapped. */
  rowsOf(line: number, cols: number): number {
    const bytes = this.#bytesOf(line - this.firstLine);
    const shown = bytes.length > shownLineBytes ? bytes.subarray(0, shownLineBytes) : bytes;
    const isPlain = shown.every(isPlainByte);
    const cells = isPlain ? shown.length : countCells(toShownText(utf8.decode(shown)));
    return Math.max(1, Math.ceil((cells + (bytes.length > shownLineBytes ? 16 : 0)) / cols));
  }

  /** Whole lines from a line on, as one text with one character a byte, about `maxBytes` of it. */
  slice(
    line: number,
    maxBytes: number,
  ): { readonly text: string; readonly next: number; readonly hasOdd: boolean } {
    const table = this.#table;
    const index = Math.max(0, line - table.first);
    const last = table.count - 1;
    if (index >= last) return { text: '', next: line, hasOdd: false };
    const from = table.start(index);
    const until = Math.max(index + 1, Math.min(last, table.find(from + maxBytes)));
    const bytes = this.#bytes.subarray(from, table.start(until));
    const hasOdd = bytes.indexOf(27) >= 0 || bytes.indexOf(13) >= 0;
    return { text: latin.decode(bytes), next: until + table.first, hasOdd };
  }

  /** The line of a position in a text of `slice`. */
  lineIn(first: number, offset: number): number {
    return this.firstLine + this.#table.find(this.#table.start(first - this.firstLine) + offset);
  }

  /** The line as text, whole, as it is shown. */
  shown(line: number): string {
    return toShownText(utf8.decode(this.#bytesOf(line - this.firstLine)));
  }

  markError(line: number): void {
    const index = line - this.firstLine;
    if (index >= 0) this.#table.addFlag(index, errorFlag);
  }
}

function countBreaks(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

const secondOf = (ms: number) => Math.floor(ms / 1_000);
const isPlainByte = (byte: number) => byte >= 32 && byte < 127;
const utf8 = new TextDecoder();
// In `latin1`, each byte is one character.
const latin = new TextDecoder('latin1');
