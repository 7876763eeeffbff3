import { groupLines } from './line-table.ts';
import { type LogPiece, LogStore } from './log-store.ts';
import type { LogOptions, LogState, MarkedRow } from './messages.ts';
import { placesIn, type Query, Search, toQuery } from './search.ts';

const errorWords = /errors?:|exception:|\b(?:fail|failed|failure|fatal|panicked|traceback)\b/gi;
const maxMarks = 400;

/** An open output: its lines, its searches and its wrapping. */
export class OpenLog {
  readonly store: LogStore;
  readonly command: string;
  readonly mode: LogOptions['mode'];
  isEnded = false;
  /** True while the server sends new output; otherwise parts are fetched as the user scrolls. */
  isLive: boolean;
  /** True if the output ends with the lines that are kept. */
  isAtEnd = false;
  /** True while a part is fetched. */
  isFetching = false;
  /** The cursor before which there is nothing to fetch. */
  floor = 0;
  /** How many of the last lines every state includes. */
  followed = 0;
  error: string | null = null;
  #query: Query | undefined;
  #search: Search | undefined;
  #queryError: string | null = null;
  #errors: Search;
  /** The rows that were inserted before the first one, minus those that were dropped there. */
  #shift = 0;
  /** The highest cursor that was reached. */
  #total = 0;
  #cols = 0;
  /** Rows of each group of 256 lines that is complete. */
  #groups: number[] = [];
  /** The line that the first group begins with. */
  #groupsFrom = 0;
  #errorLines: number[] = [];

  constructor(command: string, { from, mode }: LogOptions) {
    this.command = command;
    this.mode = mode;
    this.isLive = mode !== 'part';
    this.store = new LogStore(from);
    this.#errors = this.#searchErrors();
  }

  #searchErrors(): Search {
    return new Search(this.store, { text: '', pattern: undefined, fixed: errorWords });
  }

  append(bytes: Uint8Array, ms: number, isStderr: boolean): void {
    const { store } = this;
    if (!store.hasRoom(bytes.length)) {
      const line = store.halfLine();
      if (line !== undefined) {
        this.#shift -= this.visualOf(line);
        store.dropBefore(line);
      }
    }
    store.append(bytes, ms, isStderr);
    this.#total = Math.max(this.#total, store.end);
  }

  /** Inserts a part before the first line; returns true if lines at the end were dropped to make room. */
  prepend(pieces: readonly LogPiece[], from: number): boolean {
    const { store } = this;
    const first = store.firstLine;
    store.prepend(pieces, from);
    this.#shift += this.visualOf(first);
    // `Search` finds matches in the order of lines, so both searches start again.
    this.#errors = this.#searchErrors();
    this.#errorLines = [];
    if (this.#query) this.#search = new Search(store, this.#query);
    const isCut = store.dropEnd();
    if (isCut) {
      this.isAtEnd = false;
      this.isLive = false;
    }
    return isCut;
  }

  find(text: string): void {
    this.#queryError = null;
    this.#query = undefined;
    this.#search = undefined;
    if (text === '' || text === '/' || text === '//') return;
    try {
      this.#query = toQuery(text);
      this.#search = new Search(this.store, this.#query);
    } catch (error) {
      this.#queryError = (error as Error).message;
    }
  }

  /** Searches for a few milliseconds; returns false if nothing is left to search. */
  work(): boolean {
    const search = this.#search;
    if (search) search.isSealed = this.isEnded;
    this.#errors.isSealed = this.isEnded;
    const before = this.#errors.count;
    if (search && !search.isDone) search.step();
    else if (!this.#errors.isDone && this.#errors.count < 10_000) this.#errors.step();
    for (let index = before; index < this.#errors.count; index += 1) {
      const line = this.#errors.lineOf(index);
      this.store.markError(line);
      this.#errorLines.push(line);
    }
    return (search !== undefined && !search.isDone) || (!this.#errors.isDone && this.#errors.count < 10_000);
  }

  rows(from: number, count: number): readonly MarkedRow[] {
    return this.store.rows(from, count).map((row) => {
      const text = this.#query ? row.pieces.map((piece) => piece.text).join('') : '';
      return { ...row, marks: this.#query ? placesIn(text, this.#query) : [] };
    });
  }

  /** Whether more lines may be fetched for the search, because there is room for them. */
  get wantsMore(): boolean {
    return this.#search !== undefined && this.store.hasRoom(4 * 1_048_576);
  }

  /** Matches and lines with errors that were found so far. */
  get counted(): number {
    return (this.#search?.count ?? 0) + this.#errors.count;
  }

  lineOfMatch(index: number): number {
    return this.#search?.lineOf(index) ?? 0;
  }

  /** The next match from a line on, or the next line with an error. */
  matchFrom(line: number, errors: boolean, by: 1 | -1): number {
    const search = errors ? this.#errors : this.#search;
    if (!search || search.count === 0) return -1;
    if (by === 1) return errors ? search.lineOf(search.matchFrom(line + 1)) : search.matchFrom(line);
    let match = search.matchFrom(line) - 1;
    if (match < 0) match = search.count - 1;
    return errors ? search.lineOf(match) : match;
  }

  wrap(cols: number): void {
    if (cols === this.#cols) return;
    this.#cols = cols;
    this.#groups = [];
  }

  /** Rows on the screen. */
  get visual(): number {
    const { lines, firstLine } = this.store;
    if (this.#cols === 0) return lines - firstLine;
    this.#countGroups();
    const whole = this.#groups.reduce((sum, rows) => sum + rows, 0);
    return whole + this.#rowsBetween(firstLine + this.#groups.length * groupLines, lines);
  }

  #countGroups(): void {
    const { lines, firstLine } = this.store;
    if (firstLine !== this.#groupsFrom) {
      const dropped = (firstLine - this.#groupsFrom) / groupLines;
      this.#groups = Number.isInteger(dropped) && dropped > 0 ? this.#groups.slice(dropped) : [];
      this.#groupsFrom = firstLine;
    }
    this.#groups.length = Math.min(this.#groups.length, Math.floor((lines - firstLine) / groupLines));
    while (firstLine + (this.#groups.length + 1) * groupLines < lines) {
      const from = firstLine + this.#groups.length * groupLines;
      this.#groups.push(this.#rowsBetween(from, from + groupLines));
    }
  }

  #rowsBetween(from: number, to: number): number {
    let rows = 0;
    for (let line = from; line < to; line += 1) rows += this.store.rowsOf(line, this.#cols);
    return rows;
  }

  /** The first row of a line. */
  visualOf(line: number): number {
    const { firstLine } = this.store;
    if (this.#cols === 0) return line - firstLine;
    this.#countGroups();
    const group = Math.min(this.#groups.length, Math.floor((line - firstLine) / groupLines));
    const before = this.#groups.slice(0, group).reduce((sum, rows) => sum + rows, 0);
    return before + this.#rowsBetween(firstLine + group * groupLines, line);
  }

  /** The line that is shown in a row. */
  lineAtVisual(visual: number): number {
    const { firstLine, lines } = this.store;
    if (this.#cols === 0) return firstLine + visual;
    this.#countGroups();
    let [left, group] = [visual, 0];
    while (group < this.#groups.length && left >= (this.#groups[group] ?? 0)) {
      left -= this.#groups[group] ?? 0;
      group += 1;
    }
    let line = firstLine + group * groupLines;
    for (; line < lines - 1; line += 1) {
      const rows = this.store.rowsOf(line, this.#cols);
      if (left < rows) break;
      left -= rows;
    }
    return line;
  }

  #keptErrors(): readonly number[] {
    const { firstLine } = this.store;
    if ((this.#errorLines[0] ?? firstLine) < firstLine)
      this.#errorLines = this.#errorLines.filter((line) => line >= firstLine);
    return this.#errorLines;
  }

  state(): LogState {
    const { lines, firstLine, firstCursor, end, skippedBytes, count, arrived } = this.store;
    const errors = this.#keptErrors();
    const step = Math.max(1, Math.ceil(errors.length / maxMarks));
    const tail =
      this.followed > 0 ? this.rows(Math.max(firstLine, lines - this.followed), this.followed) : [];
    return {
      lines,
      firstLine,
      count,
      arrived,
      visual: this.visual,
      shift: this.#shift,
      bytes: Math.max(end, this.#total),
      end,
      isLive: this.isLive,
      isCounted: this.store.isNumbered && (this.isLive || this.isAtEnd),
      isWhole: firstCursor <= this.floor && (this.isLive || this.isAtEnd),
      isEnded: this.isEnded,
      error: this.error,
      firstCursor,
      skippedBytes,
      errors: errors.length,
      errorMarks: errors.filter((_, index) => index % step === 0),
      found: this.#search?.count ?? 0,
      isSearched: this.#search?.isDone ?? true,
      queryError: this.#queryError,
      marks: this.#search?.marks(maxMarks) ?? [],
      tail,
      tailVisual: this.visualOf(tail[0]?.line ?? lines),
    };
  }
}
