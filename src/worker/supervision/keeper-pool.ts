import { within } from '../../support/within.ts';
import { type Keeper, startMs } from './follow-keeper.ts';

/** Shells that wait for their one order, started ahead of need. None is used twice. */
export interface KeeperPool {
  /** True when a keeper gets ready here at all; it then waits for the first command. */
  probe(): Promise<boolean>;
  take(): Promise<Keeper>;
  close(): Promise<void>;
}

// Starting a process takes the event loop and a processor: not while somebody waits for a short command's answer.
const refillAfterMs = 8;

/** Makes a pool that keeps `size` keepers waiting. */
export function createKeeperPool(size: number, start: () => Promise<Keeper>): KeeperPool {
  const waiting: Promise<Keeper>[] = [];
  let closed = false;
  let refilling: NodeJS.Timeout | undefined;

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
    add().then(scheduleRefill, () => {});
  };
  const scheduleRefill = () => {
    refilling ??= setTimeout(refill, refillAfterMs);
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
      scheduleRefill();
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
