/** A map that is copied only when it is written to, so that branches and subshells cost nothing until they differ. */
export class Table<V> implements Iterable<[string, V]> {
  private map: Map<string, V>;
  private shared: boolean;
  /** Whether what this was copied from had its map to itself until then. */
  private readonly borrowed: boolean;

  constructor(from?: Table<V>) {
    this.map = from?.map ?? new Map();
    this.shared = from !== undefined;
    this.borrowed = from?.shared === false;
    if (from !== undefined) from.shared = true;
  }

  get size(): number {
    return this.map.size;
  }

  get(name: string): V | undefined {
    return this.map.get(name);
  }

  has(name: string): boolean {
    return this.map.has(name);
  }

  set(name: string, value: V): void {
    this.own();
    this.map.set(name, value);
  }

  delete(name: string): void {
    if (!this.map.has(name)) return;
    this.own();
    this.map.delete(name);
  }

  keys(): string[] {
    return [...this.map.keys()];
  }

  /** The names without a copy of them, for a loop that adds none here. */
  names(): Iterable<string> {
    return this.map.keys();
  }

  [Symbol.iterator](): Iterator<[string, V]> {
    return [...this.map].values();
  }

  /** True when both certainly hold the same, because neither was written to since they parted. */
  isSame(other: Table<V>): boolean {
    return this.map === other.map;
  }

  /** Holds what another holds from now on. */
  become(other: Table<V>): void {
    this.map = other.map;
    this.shared = true;
    other.shared = true;
  }

  /** Takes its map back from a copy that nobody uses any more, so that the next change needs no copying. */
  reclaim(copy: Table<V>): void {
    if (copy.borrowed && copy.map === this.map) this.shared = false;
  }

  private own(): void {
    if (this.shared) this.map = new Map(this.map);
    this.shared = false;
  }
}
