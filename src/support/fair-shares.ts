import type { Share } from '../contract/share.ts';

/**
 * Counts what runs, and divides a limit: one place is left for the owner, and each share gets an equal part of the others, at least
 * one. The owner may use every free place, and can always run one thing, even beyond the limit.
 */
export class FairShares {
  readonly #max: number;
  readonly #running = new Map<string | undefined, number>();

  constructor(max: number) {
    this.#max = max;
  }

  /** The number that run for all callers, or for one share. */
  count(share?: Share | undefined): number {
    if (share) return this.#of(share.key);
    return [...this.#running.values()].reduce((sum, one) => sum + one, 0);
  }

  /** The most that a caller can run. */
  mostFor(share: Share | undefined): number {
    return share ? Math.max(1, Math.floor((this.#max - 1) / share.of)) : this.#max;
  }

  /** Whether a caller may start another one now. */
  hasPlace(share: Share | undefined): boolean {
    const all = this.count();
    const own = this.#of(share?.key);
    if (share === undefined) return all < this.#max || (own === 0 && this.#max > 0);
    const shared = all - this.#of(undefined);
    return all < this.#max && shared < Math.max(1, this.#max - 1) && own < this.mostFor(share);
  }

  /** Counts a start; the returned function counts its end, once. */
  start(share: Share | undefined): () => void {
    const key = share?.key;
    this.#running.set(key, this.#of(key) + 1);
    let hasEnded = false;
    return () => {
      if (hasEnded) return;
      hasEnded = true;
      const left = this.#of(key) - 1;
      if (left === 0) this.#running.delete(key);
      else this.#running.set(key, left);
    };
  }

  #of(key: string | undefined): number {
    return this.#running.get(key) ?? 0;
  }
}
