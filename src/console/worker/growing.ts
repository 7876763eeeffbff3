/** Numbers by index, in a typed array that grows; the first ones can be dropped. */
export class Growing<Kind extends Uint8Array | Uint32Array | Float64Array> {
  readonly #create: (length: number) => Kind;
  #values: Kind;
  #length = 0;

  constructor(create: (length: number) => Kind) {
    this.#create = create;
    this.#values = create(1_024);
  }

  get length(): number {
    return this.#length;
  }

  push(value: number): void {
    if (this.#length === this.#values.length) this.#grow();
    this.#values[this.#length] = value;
    this.#length += 1;
  }

  at(index: number): number {
    return this.#values[index] ?? 0;
  }

  set(index: number, value: number): void {
    if (index < this.#length) this.#values[index] = value;
  }

  /** Removes the first values; the others move down. */
  drop(count: number): void {
    this.#values.copyWithin(0, count, this.#length);
    this.#length = Math.max(0, this.#length - count);
  }

  /** Keeps the first `length` values. */
  truncate(length: number): void {
    this.#length = Math.min(this.#length, length);
  }

  /** Adds a number to every value. */
  shift(by: number): void {
    for (let index = 0; index < this.#length; index += 1)
      this.#values[index] = (this.#values[index] ?? 0) + by;
  }

  /** Inserts the first `count` values of another list at the beginning, in place of the first `skipped` values. */
  prepend(other: Growing<Kind>, count: number, skipped: number): void {
    const kept = this.#values.subarray(skipped, this.#length);
    const all = this.#create(Math.max(1_024, count + kept.length));
    all.set(other.#values.subarray(0, count));
    all.set(kept, count);
    this.#values = all;
    this.#length = count + kept.length;
  }

  /** The index of the last value that is not greater than `wanted`, in ascending values. */
  findLast(wanted: number): number {
    let [low, high] = [0, this.#length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#values[middle] ?? 0) <= wanted) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  #grow(): void {
    const more = this.#create(this.#values.length * 2);
    more.set(this.#values);
    this.#values = more;
  }
}
