// The output of one command, with an index of its lines. Bytes stay bytes until a line is shown or searched.
import { applySgr, plain } from './colours.ts';
import { Growing } from './growing.ts';
import { countCells, type ShownPiece, showLine, toShownText } from './visible-text.ts';

/** A line as the page shows it. */
export interface Row {
  readonly line: number;
  readonly cursor: number;
  readonly pieces: readonly ShownPiece[];
  readonly ms: number;
  /** True for the first line of its second, whose time is shown. */
  readonly isNewSecond: boolean;
  readonly isError: boolean;
  readonly fromStderr: boolean;
  /** Bytes of a long line that are not shown. */
  readonly more: number;
}

/** Flags of a line. */
const stderrFlag = 1;
const errorFlag = 2;

const keptBytes = 64 * 1_048_576;
const shownLineBytes = 4_096;
const stateEvery = 256;

/** The lines of one output. */
export class LogStore {
  #bytes = new Uint8Array(65_536);
  #used = 0;
  /** The cursor of the first byte that is kept. */
  #base = 0;
  /** The lines before the first one that is kept. */
  #droppedLines = 0;
  /** Positions in `#bytes` at which lines begin; the last one may be empty. */
  readonly #starts = new Growing((length) => new Uint32Array(length));
  readonly #times = new Growing((length) => new Uint32Array(length));
  readonly #flags = new Growing((length) => new Uint8Array(length));
  /** The colours at the beginning of every 256th line. */
  readonly #states = new Growing((length) => new Uint32Array(length));
  #state = plain;
  #unfinished = '';
  #skippedBytes = 0;
  #isBroken = false;

  constructor(from: number) {
    this.#base = from;
    this.#begin(0, 0);
  }

  /** The cursor after everything that arrived. */
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

  get firstLine(): number {
    return this.#droppedLines;
  }

  /** Lines so far, without the empty one after a last line break. */
  get lines(): number {
    const isEmpty = this.#starts.at(this.#starts.length - 1) === this.#used;
    return this.#droppedLines + this.#starts.length - (isEmpty ? 1 : 0);
  }

  /** Notes that bytes were left out before the next ones. */
  skip(to: number): void {
    this.#skippedBytes += to - this.end;
    this.#bytes = new Uint8Array(65_536);
    this.#droppedLines = this.lines;
    this.#used = 0;
    this.#base = to;
    for (const list of [this.#starts, this.#times, this.#flags, this.#states]) list.clear();
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
    if (this.#starts.at(this.#starts.length - 1) === from) this.#renew(ms, flag);
    const hasSequences = this.#unfinished !== '' || bytes.indexOf(27) >= 0;
    let begin = 0;
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, begin)) {
      if (hasSequences) this.#follow(bytes.subarray(begin, at + 1));
      begin = at + 1;
      this.#begin(from + begin, ms, flag);
    }
    if (hasSequences) this.#follow(bytes.subarray(begin));
  }

  #begin(at: number, ms: number, flag = 0): void {
    if ((this.#droppedLines + this.#starts.length) % stateEvery === 0) this.#states.push(this.#state);
    this.#starts.push(at);
    this.#times.push(ms);
    this.#flags.push(flag);
  }

  // A line gets the time and stream of its first byte.
  #renew(ms: number, flag: number): void {
    this.#times.set(this.#starts.length - 1, ms);
    this.#flags.set(this.#starts.length - 1, flag);
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

  // Beyond 64 MB the first half is dropped; it can be fetched from the server again.
  #makeRoom(more: number): void {
    if (this.#used + more > keptBytes) this.#dropHalf();
    if (this.#used + more <= this.#bytes.length) return;
    const grown = new Uint8Array(
      Math.min(keptBytes + more, Math.max(this.#bytes.length * 2, this.#used + more)),
    );
    grown.set(this.#bytes.subarray(0, this.#used));
    this.#bytes = grown;
  }

  #dropHalf(): void {
    const half = this.#starts.findLast(this.#used / 2);
    // Only whole groups of lines are dropped, so that `#states` stays aligned.
    const lines = half - ((half + this.#droppedLines) % stateEvery);
    if (lines <= 0) {
      this.#isBroken = true;
      this.skip(this.end);
      return;
    }
    const bytes = this.#starts.at(lines);
    this.#bytes.copyWithin(0, bytes, this.#used);
    this.#used -= bytes;
    this.#base += bytes;
    this.#droppedLines += lines;
    for (const list of [this.#starts, this.#times, this.#flags]) list.drop(lines);
    this.#states.drop(lines / stateEvery);
    for (let index = 0; index < this.#starts.length; index += 1)
      this.#starts.set(index, this.#starts.at(index) - bytes);
  }

  /** True if a single line was too long to keep. */
  get isBroken(): boolean {
    return this.#isBroken;
  }

  /** The bytes of a line, without its line break. */
  #bytesOf(index: number): Uint8Array {
    const from = this.#starts.at(index);
    const to = index + 1 < this.#starts.length ? this.#starts.at(index + 1) - 1 : this.#used;
    return this.#bytes.subarray(from, Math.max(from, to));
  }

  /** Lines as they are shown. */
  rows(from: number, count: number): readonly Row[] {
    const first = Math.max(from, this.#droppedLines);
    const last = Math.min(from + count, this.lines);
    if (last <= first) return [];
    let state = this.#stateAt(first);
    const rows: Row[] = [];
    for (let line = first; line < last; line += 1) {
      const index = line - this.#droppedLines;
      const bytes = this.#bytesOf(index);
      const isLong = bytes.length > shownLineBytes;
      const text = utf8.decode(isLong ? bytes.subarray(0, shownLineBytes) : bytes);
      const shown = showLine(text, state);
      state = shown.state;
      const flags = this.#flags.at(index);
      rows.push({
        line,
        cursor: this.#base + this.#starts.at(index),
        pieces: shown.pieces,
        ms: this.#times.at(index),
        isNewSecond: index === 0 || secondOf(this.#times.at(index)) !== secondOf(this.#times.at(index - 1)),
        isError: (flags & errorFlag) !== 0,
        fromStderr: (flags & stderrFlag) !== 0,
        more: isLong ? bytes.length - shownLineBytes : 0,
      });
    }
    return rows;
  }

  #stateAt(line: number): number {
    const group = Math.floor(line / stateEvery) - Math.floor(this.#droppedLines / stateEvery);
    let state = this.#states.at(Math.max(0, group));
    const begin = Math.max(this.#droppedLines, Math.floor(line / stateEvery) * stateEvery);
    for (let at = begin; at < line; at += 1) {
      const bytes = this.#bytesOf(at - this.#droppedLines);
      if (bytes.indexOf(27) >= 0)
        state = showLine(utf8.decode(bytes.subarray(0, shownLineBytes)), state).state;
    }
    return state;
  }

  /** The text of lines as it is shown, for copying. */
  text(from: number, to: number): string {
    const lines: string[] = [];
    for (let line = Math.max(from, this.#droppedLines); line < Math.min(to, this.lines); line += 1)
      lines.push(toShownText(utf8.decode(this.#bytesOf(line - this.#droppedLines))));
    return lines.join('\n');
  }

  /** The line that contains the byte at a cursor. */
  lineAt(cursor: number): number {
    return this.#droppedLines + Math.max(0, this.#starts.findLast(Math.max(0, cursor - this.#base)));
  }

  /** The cursor of the first byte of a line. */
  cursorOf(line: number): number {
    return this.#base + this.#starts.at(Math.max(0, line - this.#droppedLines));
  }

  /** How many rows a line takes when it is wrapped. */
  rowsOf(line: number, cols: number): number {
    const bytes = this.#bytesOf(line - this.#droppedLines);
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
    const index = Math.max(0, line - this.#droppedLines);
    const last = this.#starts.length - 1;
    if (index >= last) return { text: '', next: line, hasOdd: false };
    const from = this.#starts.at(index);
    const until = Math.max(index + 1, Math.min(last, this.#starts.findLast(from + maxBytes)));
    const bytes = this.#bytes.subarray(from, this.#starts.at(until));
    const hasOdd = bytes.indexOf(27) >= 0 || bytes.indexOf(13) >= 0;
    return { text: latin.decode(bytes), next: until + this.#droppedLines, hasOdd };
  }

  /** The line of a position in a text of `slice`. */
  lineIn(first: number, offset: number): number {
    return this.#droppedLines + this.#starts.findLast(this.#starts.at(first - this.#droppedLines) + offset);
  }

  /** The line as text, whole, as it is shown. */
  shown(line: number): string {
    return toShownText(utf8.decode(this.#bytesOf(line - this.#droppedLines)));
  }

  markError(line: number): void {
    const index = line - this.#droppedLines;
    if (index >= 0) this.#flags.set(index, this.#flags.at(index) | errorFlag);
  }
}

const secondOf = (ms: number) => Math.floor(ms / 1_000);
const isPlainByte = (byte: number) => byte >= 32 && byte < 127;
const utf8 = new TextDecoder();
// In this encoding each byte is one character.
const latin = new TextDecoder('latin1');
