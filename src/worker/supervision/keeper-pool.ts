import { within } from '../../support/within.ts';
import { type Keeper, startMs } from './follow-keeper.ts';

/** Shells that wait for their one order, started ahead of need. None is used twice. */
export interface KeeperPool {
  /** True when a keeper gets ready here at all; it then waits for the first command. */
  probe(): Promise<boolean>;
  take(): Promise<Keeper>;
  close(): Promise<void>;
}

// Starting a shell takes a processor: not while somebody waits for a short command's answer, but soon after it,
const soonMs = 1;
// or beside a command that takes longer.
const laterMs = 20;

/** Makes a pool that keeps `size` keepers waiting. */
export function createKeeperPool(size: number, start: () => Promise<Keeper>): KeeperPool {
  const waiting: Promise<Keeper>[] = [];
  let closed = false;
  let refilling: NodeJS.Timeout | undefined;
  let due = 0;

  const add = () => {
    const keeper = start();
    waiting.push(keeper);
    keeper.then(
      ({ gone }) => gone.then(() => forget(keeper)),
      () => forget(keeper),
    );
    return keeper;
  };
  const forget = (keeper: Promise<Keeper>) => {
    const index = waiting.indexOf(keeper);
    if (index >= 0) waiting.splice(index, 1);
  };
  const refill = () => {
    refilling = undefined;
    if (closed || waiting.length >= size) return;
    add().then(
      () => scheduleRefill(soonMs),
      () => {},
    );
  };
  const scheduleRefill = (afterMs: number) => {
    const at = performance.now() + afterMs;
    if (refilling && due <= at) return;
    clearTimeout(refilling);
    due = at;
    refilling = setTimeout(refill, afterMs);
  };
  const refillAfter = async (taken: Promise<Keeper>) => {
    scheduleRefill(laterMs);
    const keeper = await taken.catch(() => undefined);
    await keeper?.ended;
    if (!closed) scheduleRefill(soonMs);
  };

  return {
    async probe() {
      const keeper = await add();
      const isReady = (await within(keeper.ready, startMs)) && (await keeper.ready);
      if (!isReady || size === 0) await keeper.discard();
      return isReady;
    },
    async take() {
      const keeper = waiting.shift() ?? start();
      void refillAfter(keeper);
      return keeper;
    },
    async close() {
      closed = true;
      clearTimeout(refilling);
      const keepers = await Promise.allSettled(waiting.splice(0));
      await Promise.all(keepers.map((one) => (one.status === 'fulfilled' ? one.value.discard() : undefined)));
    },
  };
}
