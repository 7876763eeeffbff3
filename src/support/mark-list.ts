import type { Cursor, OutputMark } from '../contract/job.ts';

// Beyond this number, `push` drops every second mark, so that memory stays bounded.
const maxMarks = 4_096;

/** Output marks in ascending order of their cursors; see `ReadResult.marks`. */
export class MarkList {
  #marks: OutputMark[] = [];

  get last(): OutputMark | undefined {
    return this.#marks.at(-1);
  }

  /** Adds a mark after the last one; returns true if older marks had to be dropped. */
  push(mark: OutputMark): boolean {
    this.#marks.push(mark);
    if (this.#marks.length <= maxMarks) return false;
    this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
    return true;
  }

  clear(): void {
    this.#marks = [];
  }

  /** The marks for the bytes from one cursor to another; the first is the last one at or before `from`. */
  between(from: Cursor, to: Cursor): readonly OutputMark[] {
    const first = Math.max(0, this.#indexAfter(from) - 1);
    return this.#marks.slice(first, Math.max(first, this.#indexAfter(to - 1)));
  }

  /** The index of the first mark whose cursor is greater. */
  #indexAfter(cursor: Cursor): number {
    let [low, high] = [0, this.#marks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#marks[middle]?.cursor ?? 0) <= cursor) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
