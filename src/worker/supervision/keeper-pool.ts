import { closeSync } from 'node:fs';
import { settlesWithin } from '../../support/timing.ts';
import { type Fifo, type FifoPool, openForWriting } from '../io/fifo-pool.ts';
import { type Keeper, keeperLimits } from './follow-keeper.ts';

// Starting a keeper uses CPU time, so the pool is refilled `soonMs` after a short command has ended, while no caller
// waits, or `laterMs` after the start of a longer one.
const soonMs = 1;
const laterMs = 20;
// Commands that follow one another within `restMs` use up the pool. It then grows by one for each command that found it
// empty, and new keepers are started at once, `atOnce` at a time, so that another core makes them while commands run. After
// `calmMs` without such a command it shrinks again.
const restMs = 100;
const mostWaiting = 8;
const atOnce = 2;
const defaultCalmMs = 2_000;
// Waiting shells may die repeatedly, for example when memory is short.
const afterDeathMs = 1_000;

/** Keepers that were started in advance, each with a shell that waits for its only launch message. */
export class KeeperPool<One extends Keeper = Keeper> {
  readonly #size: number;
  readonly #startKeeper: () => Promise<One>;
  readonly #stamp: () => string;
  readonly #waiting: { readonly keeper: Promise<One>; readonly stamp: string }[] = [];
  readonly #discarding = new Set<Promise<void>>();
  readonly #calmMs: number;
  #wanted: number;
  #calming: NodeJS.Timeout | undefined;
  #takenAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  #refilling: NodeJS.Timeout | undefined;
  #refillAt = 0;

  /** Makes a pool that tries to have `size` keepers waiting; one is out of date once `stamp` returns another text. */
  constructor(size: number, startKeeper: () => Promise<One>, stamp = () => '', calmMs = defaultCalmMs) {
    this.#size = size;
    this.#wanted = size;
    this.#calmMs = calmMs;
    this.#startKeeper = startKeeper;
    this.#stamp = stamp;
  }

  /** Starts a keeper and returns whether it became `ready`; it then waits for the first `take`. */
  async probe(): Promise<boolean> {
    const keeper = await this.#add();
    const isReady = (await settlesWithin(keeper.ready, keeperLimits.startMs)) && (await keeper.ready);
    if (!isReady || this.#size === 0) await keeper.discard();
    return isReady;
  }

  /** Removes a waiting keeper from the pool, or starts one. */
  take(): Promise<One> {
    this.#discardOutdated();
    const isSoon = performance.now() - this.#takenAt < restMs;
    if (isSoon && this.#waiting.length === 0) this.#grow();
    this.#takenAt = performance.now();
    const keeper = this.#waiting.shift()?.keeper ?? this.#startKeeper();
    void this.#refillAfter(keeper);
    return keeper;
  }

  /** True while keepers wait or are being started. */
  get isWarm(): boolean {
    return this.#waiting.length > 0 || this.#refilling !== undefined;
  }

  /** Discards all waiting keepers; `take` fills the pool again. */
  async rest(): Promise<void> {
    clearTimeout(this.#refilling);
    clearTimeout(this.#calming);
    this.#refilling = undefined;
    this.#wanted = this.#size;
    await Promise.all([...this.#waiting.splice(0).map(({ keeper }) => discard(keeper)), ...this.#discarding]);
  }

  /** Discards all waiting keepers and closes the pool. */
  close(): Promise<void> {
    this.#isClosed = true;
    return this.rest();
  }

  #discardOutdated(): void {
    const stamp = this.#stamp();
    const outdated = this.#waiting.filter((one) => one.stamp !== stamp);
    if (outdated.length === 0) return;
    this.#waiting.splice(0, this.#waiting.length, ...this.#waiting.filter((one) => one.stamp === stamp));
    for (const { keeper } of outdated) this.#discardSoon(keeper);
  }

  #add(): Promise<One> {
    const stamp = this.#stamp();
    const keeper = this.#startKeeper();
    this.#waiting.push({ keeper, stamp });
    keeper.then(
      // A keeper whose shell has died reports that it has `ended`, and cannot be used either.
      ({ gone, ended }) => Promise.race([gone, ended]).then(() => this.#forget(keeper)),
      () => this.#forget(keeper),
    );
    return keeper;
  }

  #forget(keeper: Promise<One>): void {
    const index = this.#waiting.findIndex((one) => one.keeper === keeper);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    this.#discardSoon(keeper);
    if (!this.#isClosed) this.#scheduleRefill(afterDeathMs);
  }

  #discardSoon(keeper: Promise<One>): void {
    const discarding = discard(keeper).finally(() => this.#discarding.delete(discarding));
    this.#discarding.add(discarding);
  }

  #grow(): void {
    if (this.#size === 0 || this.#isClosed) return;
    this.#wanted = Math.max(this.#size, Math.min(this.#wanted + 1, mostWaiting));
    clearTimeout(this.#calming);
    this.#calming = setTimeout(() => this.#shrink(), this.#calmMs).unref();
  }

  #shrink(): void {
    this.#wanted = this.#size;
    for (const { keeper } of this.#waiting.splice(this.#size)) this.#discardSoon(keeper);
  }

  get #isBusy(): boolean {
    return this.#wanted > this.#size;
  }

  async #refillAfter(taken: Promise<One>): Promise<void> {
    this.#scheduleRefill(this.#isBusy ? 0 : laterMs);
    const keeper = await taken.catch(() => undefined);
    await keeper?.ended;
    // The caller of a command still waits while its changes are applied.
    if (keeper?.layer) await settlesWithin(keeper.layer.done.promise, laterMs);
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
    if (this.#isClosed) return;
    const missing = Math.min(this.#wanted - this.#waiting.length, this.#isBusy ? atOnce : 1);
    for (let count = 0; count < missing; count += 1)
      this.#add().then(
        () => this.#scheduleRefill(this.#isBusy ? 0 : soonMs),
        () => {},
      );
  }
}

async function discard(starting: Promise<Keeper>): Promise<void> {
  const keeper = await starting.catch(() => undefined);
  await keeper?.discard();
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
    // A failure is not cached, so the next command tries again.
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
