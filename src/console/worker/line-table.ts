import { Growing } from './growing.ts';

/** The number of lines in a group; the colours are stored once for each group. */
export const groupLines = 256;

/** Where lines begin in the bytes of a log, when they arrived, their flags, and the colours before each group of lines. */
export class LineTable {
  readonly #starts = new Growing((length) => new Uint32Array(length));
  readonly #times = new Growing((length) => new Uint32Array(length));
  readonly #flags = new Growing((length) => new Uint8Array(length));
  /** The colours at the first line, and at the beginning of every further group. */
  readonly #states = new Growing((length) => new Uint32Array(length));
  /** The id of the first line; ids ascend by one, and those that are divisible by `groupLines` begin a group. */
  #first: number;

  constructor(first: number) {
    this.#first = first;
  }

  get first(): number {
    return this.#first;
  }

  get count(): number {
    return this.#starts.length;
  }

  start(index: number): number {
    return this.#starts.at(index);
  }

  get lastStart(): number {
    return this.#starts.at(this.#starts.length - 1);
  }

  time(index: number): number {
    return this.#times.at(index);
  }

  flags(index: number): number {
    return this.#flags.at(index);
  }

  addFlag(index: number, flag: number): void {
    this.#flags.set(index, this.#flags.at(index) | flag);
  }

  /** Begins a line; `state` has the colours before it. */
  begin(at: number, ms: number, flags: number, state: number): void {
    if (this.count === 0 || (this.#first + this.count) % groupLines === 0) this.#states.push(state);
    this.#starts.push(at);
    this.#times.push(ms);
    this.#flags.push(flags);
  }

  /** Sets the time and the flags of the last line, which has no bytes yet. */
  renew(ms: number, flags: number): void {
    this.#times.set(this.count - 1, ms);
    this.#flags.set(this.count - 1, flags);
  }

  /** The index of the line that a position is in. */
  find(at: number): number {
    return this.#starts.findLast(at);
  }

  /** The colours at the beginning of the group of a line, and the line that it begins with. */
  stateBefore(line: number): { readonly state: number; readonly from: number } {
    const state = this.#states.at(groupOf(line) - groupOf(this.#first));
    return { state, from: Math.max(this.#first, groupOf(line) * groupLines) };
  }

  clear(first: number): void {
    this.#first = first;
    for (const list of this.#lists) list.truncate(0);
  }

  /** Drops the lines before the id `first`, which begins a group; returns how many bytes they have. */
  dropBefore(first: number): number {
    const count = first - this.#first;
    const bytes = this.start(count);
    this.#states.drop(groupOf(first) - groupOf(this.#first));
    for (const list of [this.#starts, this.#times, this.#flags]) list.drop(count);
    this.#starts.shift(-bytes);
    this.#first = first;
    return bytes;
  }

  /** Keeps the first `count` lines. */
  keepFirst(count: number): void {
    for (const list of [this.#starts, this.#times, this.#flags]) list.truncate(count);
    this.#states.truncate(groupOf(this.#first + count - 1) - groupOf(this.#first) + 1);
  }

  /**
   * Inserts the lines of `head`, which has `bytes` bytes, at the beginning. The last line of `head` and the first line here have the
   * same id; unless the last line of `head` is empty, they are two halves of one line.
   */
  prepend(head: LineTable, bytes: number): void {
    const isWhole = head.lastStart === bytes;
    const count = head.count - (isWhole ? 1 : 0);
    const skipped = isWhole ? 0 : 1;
    this.#starts.shift(bytes);
    this.#starts.prepend(head.#starts, count, skipped);
    this.#times.prepend(head.#times, count, skipped);
    this.#flags.prepend(head.#flags, count, skipped);
    this.#states.prepend(head.#states, head.#states.length, 1);
    this.#first = head.first;
  }

  get #lists() {
    return [this.#starts, this.#times, this.#flags, this.#states];
  }
}

const groupOf = (line: number) => Math.floor(line / groupLines);
