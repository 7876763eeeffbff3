import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../support/make-folder.ts';
import { settlesWithin } from '../../support/timing.ts';
import { removeCommandFolder } from '../folders/remove-command-folder.ts';
import { useOwnFolder } from '../folders/use-own-folder.ts';
import type { RoomNetwork } from './room-network.ts';

/** A process tree in a room; `gone` resolves when none of its processes is left. */
export interface RoomUser {
  readonly pid: number;
  /** True if it runs in the network of the room. */
  readonly isJoined: boolean;
  /** `Room.mountPoints` when it was started; undefined if it has a /tmp of its own. */
  readonly mountPoints?: readonly string[] | undefined;
  readonly gone: Promise<void>;
}

/**
 * The part of the machine that sandboxed commands of one connection share: a network namespace, so that a command
 * reaches a server that another command started, and the folder that all of them see as /tmp.
 */
export class Room {
  readonly #folder: string;
  readonly #openNetwork: () => Promise<RoomNetwork>;
  readonly #users = new Set<RoomUser>();
  #mountPoints: readonly string[] = [];
  #network: Promise<RoomNetwork> | undefined;
  #closing: Promise<void> | undefined;

  constructor(folder: string, openNetwork: () => Promise<RoomNetwork>) {
    this.#folder = folder;
    this.#openNetwork = openNetwork;
    useOwnFolder(folder, () => {
      for (const path of [this.tmp, this.sharedMemory]) {
        makeFolder(path);
        // The usual mode of /tmp; the folder above it is closed to other users. `mkdir` would apply the umask.
        chmodSync(path, 0o1777);
      }
    });
  }

  /** The folder that is /tmp in its commands. */
  get tmp(): string {
    return join(this.#folder, 'tmp');
  }

  /** The folder that is /dev/shm in its commands. */
  get sharedMemory(): string {
    return join(this.#folder, 'shm');
  }

  /** Names in /tmp on which every command of the room has something mounted. */
  get mountPoints(): readonly string[] {
    return this.#mountPoints;
  }

  /** Its commands that run, or may still have processes. */
  get users(): readonly RoomUser[] {
    return [...this.#users];
  }

  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  /** Opens the network at the first call; a failed attempt is repeated at the next call. */
  network(): Promise<RoomNetwork> {
    this.#network ??= this.#openNetwork().catch((error: unknown) => {
      this.#network = undefined;
      throw error;
    });
    return this.#network;
  }

  /** The network, if it is open. */
  async openedNetwork(): Promise<RoomNetwork | undefined> {
    return this.#network?.catch(() => undefined);
  }

  /**
   * Adds a user until it is gone: the folder is not removed before. Returns false if it must not run, because while it
   * started the room was closed, or another command added mount points that it does not have.
   */
  use(user: RoomUser): boolean {
    const { mountPoints = this.#mountPoints } = user;
    if (this.isClosed || mountPoints !== this.#mountPoints) return false;
    this.#users.add(user);
    void user.gone.then(() => this.#users.delete(user));
    return true;
  }

  /**
   * Makes these names in /tmp safe to mount on, and returns whether they are. A command could replace one by a symlink,
   * on which `bwrap` would create folders outside of the sandbox. It cannot replace a name on which its own
   * sandbox has a mount, so every command gets one on each; a name is only added while no command runs.
   */
  addMountPoints(names: readonly string[]): boolean {
    const missing = names.filter((name) => !this.#mountPoints.includes(name));
    if (missing.length === 0) return true;
    if (this.#users.size > 0 || !missing.every((name) => isFolder(join(this.tmp, name)))) return false;
    this.#mountPoints = [...this.#mountPoints, ...missing];
    return true;
  }

  /** Closes the network, waits until the users are gone, and removes the folder. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await settlesWithin(Promise.all([...this.#users].map(({ gone }) => gone)), goneMs);
    await (await this.openedNetwork())?.close();
    await removeCommandFolder(this.tmp);
    await removeCommandFolder(this.sharedMemory);
    await removeCommandFolder(this.#folder);
  }
}

// A process in an uninterruptible system call survives SIGKILL; the room does not wait for it.
const goneMs = 10_000;

// Creates it if there is nothing of that name. A symlink is not a folder, even one that leads to a folder.
function isFolder(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o755 });
    return true;
  } catch {
    return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
  }
}
