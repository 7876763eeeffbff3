import { glyphWidth } from './glyph-width.ts';

// The furthest column that `moveTo` reaches on a shorter row: programs ask for column 999 to find the right edge.
const furthestColumn = 256;

// `eraseToStart` leaves wider rows alone: no terminal is that wide, and blanking a huge row repeatedly is quadratic.
const widestBlank = 1024;

/** One row of a terminal of unlimited width. A glyph of several columns is one cell followed by empty cells. */
export class CellRow {
  readonly #cells: string[] = [];
  #units = 0;
  #column = 0;

  get columns(): number {
    return this.#cells.length;
  }

  /** The memory size of the row: its columns or its UTF-16 units, whichever is larger. */
  get size(): number {
    return Math.max(this.#cells.length, this.#units);
  }

  /** The cursor: the column of the next `put`. */
  get column(): number {
    return this.#column;
  }

  get text(): string {
    return this.#cells.join('');
  }

  /** Writes one glyph at the cursor, overwriting what is there. */
  put(glyph: string): void {
    const width = glyphWidth(glyph);
    if (glyph === '\t') this.#tab();
    else if (this.#joins(width)) this.#join(glyph);
    else this.#place(glyph, Math.max(1, width));
  }

  /** Moves the cursor, at most to `furthestColumn` or the end of the row. */
  moveTo(column: number): void {
    this.#column = Math.min(Math.max(0, column), Math.max(furthestColumn, this.#cells.length));
  }

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

  /** Removes everything; the cursor does not move. */
  eraseAll(): void {
    this.#truncate(0);
  }

  // Over existing text a tab only moves the cursor; past the end it is stored as a tab character.
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

  /** Replaces a wide glyph that spans `border` with blanks, because half of it is about to be overwritten. */
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
