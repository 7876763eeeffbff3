import { closeSync } from 'node:fs';
import { settlesWithin } from '../../support/timing.ts';
import { type Fifo, type FifoPool, openForWriting } from '../io/fifo-pool.ts';
import { type Keeper, keeperLimits } from './follow-keeper.ts';

// Starting a keeper uses CPU time, so the pool is refilled `soonMs` after a short command has ended, while no caller
// waits, or `laterMs` after the start of a longer one.
const soonMs = 1;
const laterMs = 20;

/** Keepers that were started in advance, each with a shell that waits for its only launch message. */
export class KeeperPool {
  readonly #size: number;
  readonly #startKeeper: () => Promise<Keeper>;
  readonly #waiting: Promise<Keeper>[] = [];
  #isClosed = false;
  #refilling: NodeJS.Timeout | undefined;
  #refillAt = 0;

  /** Makes a pool that tries to have `size` keepers waiting. */
  constructor(size: number, startKeeper: () => Promise<Keeper>) {
    this.#size = size;
    this.#startKeeper = startKeeper;
  }

  /** Starts a keeper and returns whether it became `ready`; it then waits for the first `take`. */
  async probe(): Promise<boolean> {
    const keeper = await this.#add();
    const isReady = (await settlesWithin(keeper.ready, keeperLimits.startMs)) && (await keeper.ready);
    if (!isReady || this.#size === 0) await keeper.discard();
    return isReady;
  }

  /** Removes a waiting keeper from the pool, or starts one. */
  take(): Promise<Keeper> {
    const keeper = this.#waiting.shift() ?? this.#startKeeper();
    void this.#refillAfter(keeper);
    return keeper;
  }

  /** Discards all waiting keepers. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#refilling);
    const keepers = await Promise.allSettled(this.#waiting.splice(0));
    await Promise.all(keepers.map((one) => (one.status === 'fulfilled' ? one.value.discard() : undefined)));
  }

  #add(): Promise<Keeper> {
    const keeper = this.#startKeeper();
    this.#waiting.push(keeper);
    keeper.then(
      ({ gone }) => gone.then(() => this.#forget(keeper)),
      () => this.#forget(keeper),
    );
    return keeper;
  }

  #forget(keeper: Promise<Keeper>): void {
    const index = this.#waiting.indexOf(keeper);
    if (index >= 0) this.#waiting.splice(index, 1);
  }

  async #refillAfter(taken: Promise<Keeper>): Promise<void> {
    this.#scheduleRefill(laterMs);
    const keeper = await taken.catch(() => undefined);
    await keeper?.ended;
    if (!this.#isClosed) this.#scheduleRefill(soonMs);
  }

  #scheduleRefill(afterMs: number): void {
    const at = performance.now() + afterMs;
    if (this.#refilling && this.#refillAt <= at) return;
    clearTimeout(this.#refilling);
    this.#refillAt = at;
    this.#refilling = setTimeout(() => this.#refill(), afterMs);
  }

  #refill(): void {
    this.#refilling = undefined;
    if (this.#isClosed || this.#waiting.length >= this.#size) return;
    this.#add().then(
      () => this.#scheduleRefill(soonMs),
      () => {},
    );
  }
}

/**
 * A pipe to which nothing is ever written, shared by all keepers: they have its reading end as descriptor 4, where EOF
 * means that the server is gone, however it ended. Opened at the first use.
 */
export class Lifeline {
  readonly #fifos: FifoPool;
  #opening: Promise<Fifo> | undefined;

  constructor(fifos: FifoPool) {
    this.#fifos = fifos;
  }

  /** The reading end, for the `stdio` of a child process. */
  async readEnd(): Promise<number> {
    // A failed attempt is not kept: the next command tries again.
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return (await this.#opening).theirs;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    const pipe = await opening?.catch(() => undefined);
    if (pipe) for (const fd of [pipe.ours, pipe.theirs]) closeSync(fd);
  }

  async #open(): Promise<Fifo> {
    const [name = ''] = await this.#fifos.take(1);
    return openForWriting(name);
  }
}
