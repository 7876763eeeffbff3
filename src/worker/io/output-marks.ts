import type { Cursor, OutputMark } from '../../contract/job.ts';

const everyMs = 100;
const everyBytes = 65_536;
// Beyond this many, every second mark is dropped and the distances double, so that memory stays flat.
const maxMarks = 4_096;

/** When the bytes of a log arrived: a mark at most every 100 ms, and after 64 KiB. */
export class OutputMarks {
  readonly #now: () => number;
  readonly #begin: number;
  #marks: OutputMark[] = [];
  #scale = 1;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#begin = now();
  }

  /** Notes that bytes after `cursor` arrive now. */
  add(cursor: Cursor): void {
    const ms = Math.round(this.#now() - this.#begin);
    const last = this.#marks.at(-1);
    const isClose =
      last !== undefined &&
      ms - last.ms < everyMs * this.#scale &&
      cursor - last.cursor < everyBytes * this.#scale;
    if (isClose) return;
    this.#marks.push({ cursor, ms });
    if (this.#marks.length > maxMarks) this.#thin();
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

  #thin(): void {
    this.#marks = this.#marks.filter((_, index) => index % 2 === 0);
    this.#scale *= 2;
  }
}
