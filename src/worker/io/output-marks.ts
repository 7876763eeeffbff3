import type { Cursor, OutputMark } from '../../contract/job.ts';
import { MarkList } from '../../support/mark-list.ts';

const everyMs = 100;
const everyBytes = 65_536;

/** When the bytes of a log arrived: a mark at most every 100 ms, and after 64 KiB. */
export class OutputMarks {
  readonly #now: () => number;
  readonly #begin: number;
  readonly #marks = new MarkList();
  #scale = 1;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
    this.#begin = now();
  }

  /** Records the current time for the bytes after `cursor`. */
  add(cursor: Cursor): void {
    const ms = Math.round(this.#now() - this.#begin);
    const { last } = this.#marks;
    const isClose =
      last !== undefined &&
      ms - last.ms < everyMs * this.#scale &&
      cursor - last.cursor < everyBytes * this.#scale;
    if (isClose) return;
    // `push` dropped every second mark, so new ones are placed at twice the distance.
    if (this.#marks.push({ cursor, ms })) this.#scale *= 2;
  }

  /** The marks for the bytes from one cursor to another; the first is the last one at or before `from`. */
  between(from: Cursor, to: Cursor): readonly OutputMark[] {
    return this.#marks.between(from, to);
  }
}
