/** A map that is copied only when it is written to, so that branches and subshells cost nothing until they differ. */
export class CopyOnWriteMap<V> implements Iterable<[string, V]> {
  private held: Held<V>;

  constructor(from?: CopyOnWriteMap<V>) {
    this.held = from === undefined ? { map: new Map(), refCount: 0 } : from.held;
    this.held.refCount++;
  }

  get size(): number {
    return this.held.map.size;
  }

  get(name: string): V | undefined {
    return this.held.map.get(name);
  }

  has(name: string): boolean {
    return this.held.map.has(name);
  }

  set(name: string, value: V): void {
    this.own().set(name, value);
  }

  delete(name: string): void {
    if (this.held.map.has(name)) this.own().delete(name);
  }

  keys(): string[] {
    return [...this.held.map.keys()];
  }

  /** The names without a copy of them, for a loop that adds none here. */
  names(): Iterable<string> {
    return this.held.map.keys();
  }

  [Symbol.iterator](): Iterator<[string, V]> {
    return [...this.held.map].values();
  }

  /** True when both certainly hold the same, because neither was written to since they parted. */
  isSame(other: CopyOnWriteMap<V>): boolean {
    return this.held === other.held;
  }

  /** Holds what another holds from now on. */
  replaceWith(other: CopyOnWriteMap<V>): void {
    other.held.refCount++;
    this.release();
    this.held = other.held;
  }

  /** Lets go of its map, so that who shares it need not copy it; it must not be used any more. */
  release(): void {
    this.held.refCount--;
  }

  /** Never changes from now on: whoever shares it copies before writing. */
  freeze(): void {
    this.held.refCount = Number.POSITIVE_INFINITY;
  }

  private own(): Map<string, V> {
    if (this.held.refCount > 1) {
      this.release();
      this.held = { map: copyOf(this.held.map), refCount: 1 };
    }
    return this.held.map;
  }
}

/** The constructor of Map takes twice as long. */
function copyOf<V>(map: ReadonlyMap<string, V>): Map<string, V> {
  const copy = new Map<string, V>();
  for (const [name, value] of map) copy.set(name, value);
  return copy;
}

/** A map and how many tables hold it. */
interface Held<V> {
  readonly map: Map<string, V>;
  refCount: number;
}
