/** Counts replies by status, for `/metrics`. */
export interface RequestCounts {
  add(status: number): void;
  list(): ReadonlyMap<number, number>;
}

/** Creates counters that start at zero. */
export function createRequestCounts(): RequestCounts {
  const counts = new Map<number, number>();
  return {
    add: (status) => void counts.set(status, (counts.get(status) ?? 0) + 1),
    list: () => counts,
  };
}
