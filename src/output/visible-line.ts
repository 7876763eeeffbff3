import { CellRow } from './cell-row.ts';
import { safeCut } from './surrogates.ts';

/** The longest part of an unfinished line that can still be rewritten; what is before it is given out. */
export const maxHeldChars = 65_536;

/**
 * The text a terminal would show, line by line. As long as text only gets longer it is a plain string; the first
 * write that lands on text already there turns the unfinished line into cells, until that line ends.
 */
export class VisibleLine {
  #done = '';
  #held = '';
  #returned = false;
  #row: CellRow | undefined;
  #saved = { line: -1, column: 0 };
  #line = 0;

  /** Takes what is final since the last time. */
  take(): string {
    const done = this.#done;
    this.#done = '';
    return done;
  }

  /** The unfinished line as it looks now. */
  get pending(): string {
    return this.#row?.text ?? this.#held;
  }

  /** Writes text that has no control characters but TAB and LF. */
  print(text: string): void {
    const isRewrite = this.#row !== undefined || this.#returned;
    const done = isRewrite ? this.#overwrite(text) : 0;
    if (done < text.length) this.#append(done === 0 ? text : text.slice(done));
  }

  /** Goes to the start of the line; nothing is lost until something is written there. */
  carriageReturn(): void {
    if (this.#row !== undefined) this.#row.moveTo(0);
    else this.#returned = this.#held !== '';
  }

  /** Moves the cursor within the line. */
  moveBy(columns: number): void {
    const row = this.#cells();
    row.moveTo(row.column + columns);
  }

  /** Moves the cursor to a column of the line, counted from 0. */
  moveTo(column: number): void {
    this.#cells().moveTo(column);
    this.#backToText();
  }

  /** Erases part of the line, or all of it. */
  erase(part: 'to-end' | 'to-start' | 'all'): void {
    if (part === 'to-end') this.#eraseToEnd();
    else if (part === 'to-start') this.#cells().eraseToStart();
    else this.#cells().eraseAll();
    this.#backToText();
  }

  /** The cursor leaves for another row: what comes next must not look like a part of this one. */
  leaveRow(): void {
    if (this.pending !== '') this.#endLine();
    this.#row = undefined;
  }

  /** Remembers the cursor's column. */
  saveCursor(): void {
    this.#saved = { line: this.#line, column: this.#cells().column };
    this.#backToText();
  }

  /** Goes back to the remembered column, or to another row when that line has ended. */
  restoreCursor(): void {
    if (this.#saved.line === this.#line) this.moveTo(this.#saved.column);
    else this.leaveRow();
  }

  /** Gives out the unfinished line. */
  finish(): void {
    this.#done += this.pending;
    this.#startLine();
  }

  #append(text: string): void {
    const end = text.lastIndexOf('\n') + 1;
    if (end > 0) {
      this.#done += this.#held + text.slice(0, end);
      this.#startLine();
    }
    this.#held += end > 0 ? text.slice(end) : text;
    while (this.#held.length > maxHeldChars) {
      const cut = safeCut(this.#held, maxHeldChars);
      this.#done += this.#held.slice(0, cut);
      this.#held = this.#held.slice(cut);
      this.#line += 1;
    }
  }

  // Colouring programs erase after every match and progress bars after every return: neither needs cells.
  #eraseToEnd(): void {
    this.#row?.eraseToEnd();
    if (this.#returned) this.#held = '';
    this.#returned = false;
  }

  /** Writes into the cells until the line ends or is too long; tells how much of the text that took. */
  #overwrite(text: string): number {
    if (text.startsWith('\n')) {
      this.#endLine();
      return 1;
    }
    const row = this.#cells();
    let done = 0;
    for (const glyph of text) {
      done += glyph.length;
      if (glyph === '\n') this.#endLine();
      else row.put(glyph);
      if (row.size > maxHeldChars) this.finish();
      if (this.#row !== row) return done;
    }
    return done;
  }

  #cells(): CellRow {
    if (this.#row !== undefined) return this.#row;
    let row = new CellRow();
    for (const glyph of this.#held) {
      row.put(glyph);
      if (row.size <= maxHeldChars) continue;
      this.#done += row.text;
      this.#line += 1;
      row = new CellRow();
    }
    if (this.#returned) row.moveTo(0);
    this.#held = '';
    this.#returned = false;
    this.#row = row;
    return row;
  }

  #backToText(): void {
    if (this.#row?.columns === 0 && this.#row.column === 0) this.#row = undefined;
  }

  #endLine(): void {
    this.#done += `${this.pending}\n`;
    this.#startLine();
  }

  #startLine(): void {
    this.#held = '';
    this.#returned = false;
    this.#row = undefined;
    this.#line += 1;
  }
}
