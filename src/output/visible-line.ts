import { CellRow } from './cell-row.ts';
import { safeCut } from './surrogates.ts';

/** The longest part of an unfinished line that can still be rewritten; text before it is returned as final. */
export const maxHeldChars = 65_536;

/**
 * The text that a terminal would show, line by line. The unfinished line is a plain string while it only grows; the first
 * write over existing text converts it to a `CellRow` until the line ends.
 */
export class VisibleLine {
  #done = '';
  #held = '';
  #returned = false;
  #row: CellRow | undefined;
  #saved = { line: -1, column: 0 };
  #line = 0;

  /** Returns and clears the text that has become final since the last call. */
  take(): string {
    const done = this.#done;
    this.#done = '';
    return done;
  }

  /** The unfinished line as it looks now; `take` does not return it yet. */
  get pending(): string {
    return this.#row?.text ?? this.#held;
  }

  /** Writes text without control characters other than TAB and LF. */
  print(text: string): void {
    const isRewrite = this.#row !== undefined || this.#returned;
    const done = isRewrite ? this.#overwrite(text) : 0;
    if (done < text.length) this.#append(done === 0 ? text : text.slice(done));
  }

  /** Moves the cursor to the start of the line; the text stays until it is overwritten. */
  carriageReturn(): void {
    if (this.#row !== undefined) this.#row.moveTo(0);
    else this.#returned = this.#held !== '';
  }

  moveBy(columns: number): void {
    const row = this.#cells();
    row.moveTo(row.column + columns);
  }

  /** Moves the cursor to a column, counted from 0. */
  moveTo(column: number): void {
    this.#cells().moveTo(column);
    this.#backToText();
  }

  erase(part: 'to-end' | 'to-start' | 'all'): void {
    if (part === 'to-end') this.#eraseToEnd();
    else if (part === 'to-start') this.#cells().eraseToStart();
    else this.#cells().eraseAll();
    this.#backToText();
  }

  /** Moves the cursor to another row: ends the line, so that the next text does not appear in it. */
  leaveRow(): void {
    if (this.pending !== '') this.#endLine();
    this.#row = undefined;
  }

  /** Saves the cursor's column for `restoreCursor`. */
  saveCursor(): void {
    this.#saved = { line: this.#line, column: this.#cells().column };
    this.#backToText();
  }

  /** Moves the cursor back to the saved column, or to another row if that line has ended. */
  restoreCursor(): void {
    if (this.#saved.line === this.#line) this.moveTo(this.#saved.column);
    else this.leaveRow();
  }

  /** Makes the unfinished line final. */
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

  // `grep --color` erases after every match, and progress bars after every return: neither needs a `CellRow`.
  #eraseToEnd(): void {
    this.#row?.eraseToEnd();
    if (this.#returned) this.#held = '';
    this.#returned = false;
  }

  /** Writes into the `CellRow` until the line ends or is too long; returns how many characters it wrote. */
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
