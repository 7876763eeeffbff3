import { glyphWidth } from './glyph-width.ts';

// How far a cursor can be sent on a shorter row: programs ask for column 999 to reach a right edge.
const furthestColumn = 256;

// No terminal is wider, and blanking an endless row again and again would take a command's output hours to read.
const widestBlank = 1024;

/** One row of a terminal of endless width. A glyph of several columns is its text followed by empty cells. */
export class CellRow {
  readonly #cells: string[] = [];
  #units = 0;
  #column = 0;

  /** Columns in use. */
  get columns(): number {
    return this.#cells.length;
  }

  /** What the row takes of memory: its columns or its characters, whichever are more. */
  get size(): number {
    return Math.max(this.#cells.length, this.#units);
  }

  /** Where the next glyph goes. */
  get column(): number {
    return this.#column;
  }

  /** The text of the row. */
  get text(): string {
    return this.#cells.join('');
  }

  /** Writes one glyph over what stands at the cursor. */
  put(glyph: string): void {
    const width = glyphWidth(glyph);
    if (glyph === '\t') this.#tab();
    else if (this.#joins(width)) this.#join(glyph);
    else this.#place(glyph, Math.max(1, width));
  }

  /** Moves the cursor, as far as a row goes. */
  moveTo(column: number): void {
    this.#column = Math.min(Math.max(0, column), Math.max(furthestColumn, this.#cells.length));
  }

  /** Removes everything from the cursor on. */
  eraseToEnd(): void {
    this.#unjoin(this.#column);
    this.#truncate(this.#column);
  }

  /** Blanks everything up to and including the cursor's column. */
  eraseToStart(): void {
    const end = this.#column + 1;
    this.#unjoin(end);
    if (end >= this.#cells.length) this.#truncate(0);
    else if (end <= widestBlank) for (let i = 0; i < end; i += 1) this.#set(i, ' ');
  }

  /** Removes everything; the cursor stays. */
  eraseAll(): void {
    this.#truncate(0);
  }

  // A tab over text only moves; past the end it is kept as the character that it is.
  #tab(): void {
    const width = 8 - (this.#column % 8);
    if (this.#column < this.#cells.length) this.#column += width;
    else this.#place('\t', width);
  }

  #joins(width: number): boolean {
    if (this.#column === 0 || this.#column > this.#cells.length) return false;
    if (width === 0) return true;
    return width === 2 && (this.#cells[this.#head(this.#column - 1)] ?? '').endsWith('\u200d');
  }

  #join(mark: string): void {
    const head = this.#head(this.#column - 1);
    this.#set(head, (this.#cells[head] ?? '') + mark);
  }

  #place(glyph: string, width: number): void {
    const end = this.#column + width;
    while (this.#cells.length < this.#column) this.#set(this.#cells.length, ' ');
    this.#unjoin(this.#column);
    this.#unjoin(end);
    this.#set(this.#column, glyph);
    for (let i = this.#column + 1; i < end; i += 1) this.#set(i, '');
    this.#column = end;
  }

  /** A glyph that reaches across this border is about to lose a part: blanks take its place. */
  #unjoin(border: number): void {
    if (border >= this.#cells.length || this.#cells[border] !== '') return;
    let i = this.#head(border);
    do this.#set(i++, ' ');
    while (this.#cells[i] === '');
  }

  #head(column: number): number {
    let i = column;
    while (i > 0 && this.#cells[i] === '') i -= 1;
    return i;
  }

  #set(column: number, glyph: string): void {
    this.#units += glyph.length - (this.#cells[column] ?? '').length;
    this.#cells[column] = glyph;
  }

  #truncate(columns: number): void {
    for (let i = columns; i < this.#cells.length; i += 1) this.#units -= (this.#cells[i] ?? '').length;
    if (columns < this.#cells.length) this.#cells.length = columns;
  }
}
