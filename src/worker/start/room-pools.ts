import type { Room } from '../room/room.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import { KeeperPool } from '../supervision/keeper-pool.ts';

// Each waiting keeper is three processes, so only the rooms that were used last have some.
const maxWarmRooms = 4;
const idleMs = 300_000;

/** A pool of keepers for each room, and one for commands without a room. */
export class RoomPools {
  readonly #size: number;
  readonly #startKeeper: (room: Room | undefined) => Promise<Keeper>;
  readonly #stamp: () => string;
  /** In the order of their last use. */
  readonly #pools = new Map<Room | undefined, KeeperPool>();
  readonly #idleTimers = new Map<Room | undefined, NodeJS.Timeout>();
  #first: KeeperPool | undefined;

  /** Keepers are out of date when `stamp` returns another text, or when their room has more mount points. */
  constructor(size: number, startKeeper: (room: Room | undefined) => Promise<Keeper>, stamp: () => string) {
    this.#size = size;
    this.#startKeeper = startKeeper;
    this.#stamp = stamp;
  }

  /** `KeeperPool.probe` for one room. */
  probe(room: Room | undefined): Promise<boolean> {
    return this.#poolOf(room).probe();
  }

  /** Removes a waiting keeper of a room, or starts one. */
  take(room: Room | undefined): Promise<Keeper> {
    const pool = this.#poolOf(room);
    this.#pools.delete(room);
    this.#pools.set(room, pool);
    const keeper = pool.take();
    this.#restOldest();
    this.#restWhenIdle(room, pool);
    return keeper;
  }

  async close(room: Room): Promise<void> {
    clearTimeout(this.#idleTimers.get(room));
    this.#idleTimers.delete(room);
    const pool = this.#pools.get(room);
    this.#pools.delete(room);
    await pool?.close();
  }

  async closeAll(): Promise<void> {
    for (const timer of this.#idleTimers.values()) clearTimeout(timer);
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  #poolOf(room: Room | undefined): KeeperPool {
    const known = this.#pools.get(room);
    if (known) return known;
    const stamp = () => `${this.#stamp()} ${room?.mountPoints.join('/')}`;
    const pool = new KeeperPool(this.#size, () => this.#startKeeper(room), stamp);
    this.#first ??= pool;
    this.#pools.set(room, pool);
    return pool;
  }

  #restOldest(): void {
    const warm = [...this.#pools.values()].filter((pool) => pool.isWarm);
    for (const pool of warm.slice(0, -maxWarmRooms)) void pool.rest();
  }

  // The first connection of a server is often its only one, and its next command is never started cold.
  #restWhenIdle(room: Room | undefined, pool: KeeperPool): void {
    if (pool === this.#first) return;
    clearTimeout(this.#idleTimers.get(room));
    this.#idleTimers.set(room, setTimeout(() => void pool.rest(), idleMs).unref());
  }
}
