import type { ExecGuard } from '../exec/exec-guard.ts';
import type { Room } from '../room/room.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import { KeeperPool } from '../supervision/keeper-pool.ts';

// Each waiting keeper consists of up to three processes, so only the most recently used pools keep some waiting.
const maxWarmPools = 4;
const idleMs = 300_000;
// Rooms and lists come and go; a pool that is forgotten is made again when it is needed.
const maxPools = 64;

/** The properties that a keeper has from its start. */
export interface PoolKey {
  /** Undefined for commands without a room. */
  readonly room: Room | undefined;
  /** Undefined if the kernel executes every program for its command. */
  readonly guard: ExecGuard | undefined;
}

interface Entry<One extends Keeper> extends PoolKey {
  readonly pool: KeeperPool<One>;
  idle: NodeJS.Timeout | undefined;
}

/** How `WarmPools` starts keepers. */
export interface WarmPoolOptions<One extends Keeper> {
  /** The size of each pool. */
  readonly size: number;
  start(key: PoolKey): Promise<One>;
  /** Keepers are outdated when this returns a different text, or when their room has more mount points. */
  stamp(key: PoolKey): string;
}

/** A pool of keepers for each room and list of programs. */
export class WarmPools<One extends Keeper> {
  readonly #options: WarmPoolOptions<One>;
  /** In the order of their last use. */
  #entries: readonly Entry<One>[] = [];

  constructor(options: WarmPoolOptions<One>) {
    this.#options = options;
  }

  /** `KeeperPool.probe` for one pool. */
  probe(key: PoolKey): Promise<boolean> {
    return this.#entryOf(key).pool.probe();
  }

  /** Takes a waiting keeper from a pool, or starts one. */
  take(key: PoolKey): Promise<One> {
    const entry = this.#entryOf(key);
    const previous = this.#entries.at(-1);
    this.#entries = [...this.#entries.filter((one) => one !== entry), entry];
    // The most recently used pool stays warm, so that the next command of a server with one connection never waits for
    // a keeper.
    clearTimeout(entry.idle);
    if (previous && previous !== entry) restWhenIdle(previous);
    const keeper = entry.pool.take();
    this.#restOldest();
    return keeper;
  }

  /** Closes the pools of a room. */
  async close(room: Room): Promise<void> {
    const closed = this.#entries.filter((entry) => entry.room === room);
    this.#entries = this.#entries.filter((entry) => entry.room !== room);
    await Promise.all(closed.map(closeEntry));
  }

  async closeAll(): Promise<void> {
    await Promise.all(this.#entries.map(closeEntry));
  }

  #entryOf({ room, guard }: PoolKey): Entry<One> {
    const known = this.#entries.find((one) => one.room === room && one.guard === guard);
    if (known) return known;
    const entry = this.#create({ room, guard });
    this.#entries = [...this.#entries, entry];
    return entry;
  }

  #create(key: PoolKey): Entry<One> {
    const { size, start, stamp } = this.#options;
    const fullStamp = () => `${stamp(key)} ${key.room?.mountPoints.join('/')}`;
    return { ...key, pool: new KeeperPool<One>(size, () => start(key), fullStamp), idle: undefined };
  }

  #restOldest(): void {
    for (const forgotten of this.#entries.slice(0, -maxPools)) void closeEntry(forgotten);
    this.#entries = this.#entries.slice(-maxPools);
    const warm = this.#entries.filter(({ pool }) => pool.isWarm);
    for (const { pool } of warm.slice(0, -maxWarmPools)) void pool.rest();
  }
}

function restWhenIdle<One extends Keeper>(entry: Entry<One>): void {
  clearTimeout(entry.idle);
  entry.idle = setTimeout(() => void entry.pool.rest(), idleMs).unref();
}

function closeEntry<One extends Keeper>({ pool, idle }: Entry<One>): Promise<void> {
  clearTimeout(idle);
  return pool.close();
}
