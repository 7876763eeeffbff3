/** Counts replies by status, for `/metrics`. */
export interface RequestCounts {
  /** Counts a reply to an owner; undefined for a request without a caller. */
  add(status: number, owner: string | undefined): void;
  /** The counts of all requests, or of those of one owner. */
  list(owner?: string | undefined): ReadonlyMap<number, number>;
}

/** Creates counters that start at zero. */
export function createRequestCounts(): RequestCounts {
  const all = new Map<number, number>();
  const byOwner = new Map<string, Map<number, number>>();
  const count = (counts: Map<number, number>, status: number) =>
    void counts.set(status, (counts.get(status) ?? 0) + 1);
  return {
    add(status, owner) {
      count(all, status);
      if (owner === undefined) return;
      const own = byOwner.get(owner) ?? new Map<number, number>();
      byOwner.set(owner, own);
      count(own, status);
    },
    list: (owner) => (owner === undefined ? all : (byOwner.get(owner) ?? new Map())),
  };
}
