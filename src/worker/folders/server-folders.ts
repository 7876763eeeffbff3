import { lstatSync, mkdirSync, rmdirSync, statfsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { createFifoPool, type FifoPool, type RunProgram } from '../io/fifo-pool.ts';
import type { Environment } from '../machine/environment.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { checkOwner, createInstanceFolder, createPrivateFolder, sweepFolders } from './instance-folder.ts';
import { openLivenessSocket } from './liveness-socket.ts';

/** The folders of one running server: `path` for spools and long scripts, and a pool of FIFOs. */
export interface ServerFolders {
  readonly path: string;
  readonly fifos: FifoPool;
  /** Creates all further FIFOs on disk if they were in /dev/shm, where a sandbox by Landlock could replace them. */
  leaveSharedMemory(): Promise<void>;
  remove(): Promise<void>;
}

const sharedMemory = '/dev/shm';

// Spawning `mkfifo` blocks the event loop for milliseconds, so it is called rarely.
const fifoBatch = 256;

/** Creates the folders of a server, and removes those of dead servers. */
export async function createServerFolders(
  stateDir: string,
  memoryFolders: readonly string[],
  table: ProcessTable,
): Promise<ServerFolders> {
  const folder = await createInstanceFolder(stateDir, table);
  const pipes = createPipeFolder(folder.path, memoryFolders, table);
  const onDisk = createFifoPool(join(folder.path, 'fifos'), fifoBatch);
  const inMemory = pipes ? new MemoryFirstFifoPool(pipes, onDisk) : null;
  const fifos = inMemory ?? onDisk;
  return {
    path: folder.path,
    fifos,
    async leaveSharedMemory() {
      if (!pipes?.path.startsWith(`${sharedMemory}/`)) return;
      await inMemory?.leave();
      await pipes.remove();
    },
    async remove() {
      await fifos.close();
      await pipes?.remove();
      await folder.remove();
    },
  };
}

/** Creates FIFOs on tmpfs, and on disk once that has failed: tmpfs may be full, and a logout may remove XDG_RUNTIME_DIR. */
class MemoryFirstFifoPool implements FifoPool {
  readonly #pipes: PipeFolder;
  readonly #inMemory: FifoPool;
  readonly #onDisk: FifoPool;
  #hasFailed = false;

  constructor(pipes: PipeFolder, onDisk: FifoPool) {
    this.#pipes = pipes;
    this.#inMemory = createFifoPool(pipes.path, fifoBatch);
    this.#onDisk = onDisk;
  }

  async take(count: number): Promise<readonly string[]> {
    const names = await this.#takeFromMemory(count);
    this.#hasFailed ||= names === null;
    return names ?? this.#onDisk.take(count);
  }

  release(names: readonly string[]): void {
    const isInMemory = names.every((name) => name.startsWith(`${this.#pipes.path}/`));
    (isInMemory ? this.#inMemory : this.#onDisk).release(names);
  }

  runWith(run: RunProgram): void {
    this.#inMemory.runWith(run);
    this.#onDisk.runWith(run);
  }

  /** Uses the disk from now on. */
  async leave(): Promise<void> {
    this.#hasFailed = true;
    await this.#inMemory.close();
  }

  async close(): Promise<void> {
    await this.#inMemory.close();
    await this.#onDisk.close();
  }

  async #takeFromMemory(count: number): Promise<readonly string[] | null> {
    if (this.#hasFailed || !this.#pipes.exists()) return null;
    const names = await this.#inMemory.take(count).catch(() => null);
    // If the folder was removed, another process may have created one of that name; FIFOs in it cannot be trusted.
    return this.#pipes.exists() ? names : null;
  }
}

/** The private folder on tmpfs, such as `/dev/shm`, in which one server creates its FIFOs. */
export interface PipeFolder {
  readonly path: string;
  /** False once it was removed, even if another folder has its name now. */
  exists(): boolean;
  remove(): Promise<void>;
}

// The `statfs` types of file systems in memory: tmpfs and ramfs.
const memoryTypes: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

/**
 * The folders, by preference, for the FIFOs of all servers of this user, such as `/dev/shm/nacre-1000`. Each belongs to
 * the user alone, so that other users cannot interfere with a sweep, and hiding it hides the FIFOs of every server.
 */
export function memoryFolders({ XDG_RUNTIME_DIR: runtimeDir }: Environment): readonly string[] {
  const places = [...(runtimeDir !== undefined && isAbsolute(runtimeDir) ? [runtimeDir] : []), sharedMemory];
  return places.map((place) => join(place, `nacre-${process.getuid?.() ?? 'user'}`));
}

/**
 * Creates the folder for FIFOs in memory, and removes those of dead servers; returns null if no candidate is in memory.
 * Every command needs a few FIFOs. On disk, `mkfifo` takes a few tenths of a millisecond each, and none has to persist.
 */
export function createPipeFolder(
  instance: string,
  folders: readonly string[],
  table: ProcessTable,
): PipeFolder | null {
  for (const folder of folders) sweepPipes(folder, table).catch(() => {});
  const path = folders
    .filter((folder) => isUsable(dirname(folder)))
    .map((folder) => join(folder, basename(instance)))
    .find(tryToCreate);
  return path === undefined ? null : toPipeFolder(path);
}

function toPipeFolder(path: string): PipeFolder {
  const identity = identityOf(path);
  const stopKeeping = openLivenessSocket(path);
  return {
    path,
    exists: () => identity !== undefined && identityOf(path) === identity,
    async remove() {
      stopKeeping();
      // If the removal fails, the next server's sweep removes the folder.
      await rm(path, { recursive: true, force: true }).catch(() => {});
      removeIfEmpty(dirname(path));
    },
  };
}

/** Removes the folders of dead servers; returns their names. */
export async function sweepPipes(folder: string, table: ProcessTable): Promise<readonly string[]> {
  if (!isOwn(folder)) return [];
  const swept = await sweepFolders(folder, table);
  removeIfEmpty(folder);
  return swept;
}

function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function isUsable(place: string): boolean {
  try {
    checkOwner(place, statSync(place));
    return memoryTypes.has(statfsSync(place).type);
  } catch {
    return false;
  }
}

// `mkdirSync` fails if the path exists: only a folder that we created ourselves can be trusted.
function tryToCreate(path: string): boolean {
  try {
    createPrivateFolder(dirname(path));
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = lstatSync(path, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // ENOTEMPTY: another server uses it.
  }
}
