import { join } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import { Room } from './room.ts';
import { openRoomNetwork, type RoomNetwork, type RoomNetworkDeps } from './room-network.ts';

/** The dependencies of `Rooms`. */
export interface RoomsDeps extends RoomNetworkDeps {
  /** Where the rooms' folders are created. */
  readonly folder: string;
}

// More than the number of connections with calls in flight; without a limit, the keys of all ended connections would
// accumulate.
const maxEnded = 10_000;

/** The rooms of a worker, by key. */
export class Rooms {
  readonly #deps: RoomsDeps;
  readonly #rooms = new Map<string, Room>();
  readonly #closing = new Set<Promise<void>>();
  /** Keys of ended connections: a call that arrives late must not create a room that is never closed. */
  readonly #ended = new Set<string>();
  /** A room that was prepared for the first key that is used. */
  #spare: Room | undefined;
  #created = 0;
  #hasJoined = false;
  #whyNotJoined: string | undefined;
  #lastFailure = '';

  constructor(deps: RoomsDeps) {
    this.#deps = deps;
  }

  /** The room that the first caller of `get` will have, so that it can be prepared. */
  get spare(): Room {
    this.#spare ??= this.#create();
    return this.#spare;
  }

  /** Returns the room of a key; creates it at the first call, and throws if its connection has ended. */
  get(key: string): Room {
    const known = this.#rooms.get(key);
    if (known) return known;
    if (this.#ended.has(key)) throw connectionEnded();
    const room = this.#spare ?? this.#create();
    this.#spare = undefined;
    this.#rooms.set(key, room);
    return room;
  }

  list(): readonly (readonly [key: string, room: Room])[] {
    return [...this.#rooms];
  }

  /** True once a command has started in the network of its room. */
  get hasJoined(): boolean {
    return this.#hasJoined;
  }

  /** The gap of commands that get a network namespace each instead of that of their room. */
  get gap(): string {
    const reason = this.#whyNotJoined ?? this.#lastFailure;
    return `Commands do not share loopback: they cannot enter a network namespace together (${reason}).`;
  }

  /** True if no command can join the network of its room. */
  get isApart(): boolean {
    return this.#whyNotJoined !== undefined;
  }

  /** The network of a room, or undefined if it cannot be opened here. */
  async join(room: Room): Promise<RoomNetwork | undefined> {
    // A closed room would open a namespace that is never closed; no command runs in it any more.
    if (this.#whyNotJoined !== undefined || room.isClosed) return undefined;
    try {
      return await room.network();
    } catch (error) {
      this.#lastFailure = error instanceof Error ? error.message : String(error);
      // A failure after the first success is temporary, such as EMFILE.
      if (!this.#hasJoined) this.stopJoining(this.#lastFailure);
      return undefined;
    }
  }

  /** Records that a command has started in the network of its room. */
  noteJoined(): void {
    this.#hasJoined = this.#whyNotJoined === undefined;
  }

  /** Gives every command a network namespace of its own from now on; the returned function undoes that. */
  stopJoining(reason: string): () => void {
    const before = this.#whyNotJoined;
    this.#whyNotJoined ??= reason;
    return () => {
      this.#whyNotJoined = before;
    };
  }

  /** Forgets the room of an ended connection at once; it is removed when its commands have ended. Returns it, if there was one. */
  forget(key: string): Room | undefined {
    const room = this.#rooms.get(key);
    this.#rooms.delete(key);
    this.#noteEnded(key);
    if (room) this.#close(room);
    return room;
  }

  async close(): Promise<void> {
    const rooms = [...this.#rooms.values(), ...(this.#spare ? [this.#spare] : [])];
    this.#rooms.clear();
    this.#spare = undefined;
    for (const room of rooms) this.#close(room);
    await Promise.all(this.#closing);
  }

  #close(room: Room): void {
    const closing = room.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  #noteEnded(key: string): void {
    const [oldest] = this.#ended;
    if (oldest !== undefined && this.#ended.size >= maxEnded) this.#ended.delete(oldest);
    this.#ended.add(key);
  }

  #create(): Room {
    const folder = join(this.#deps.folder, String(this.#created++));
    return new Room(folder, () => openRoomNetwork(this.#deps));
  }
}

function connectionEnded(): NacreError {
  return new NacreError('cancelled', 'The connection of this command has ended. Nothing was run.', {
    hint: 'Connect again, and send the command there.',
  });
}
