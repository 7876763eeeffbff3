import { lstatSync, mkdirSync, rmdirSync, statfsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Environment } from '../machine/environment.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { checkOwner, createPrivateFolder, startHeartbeat, sweepFolders } from './instance-folder.ts';

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
  const places = [...(runtimeDir !== undefined && isAbsolute(runtimeDir) ? [runtimeDir] : []), '/dev/shm'];
  return places.map((place) => join(place, `nacre-${process.getuid?.() ?? 'user'}`));
}

/**
 * Creates the folder for FIFOs in memory, and removes those of dead servers; returns null if no candidate is in memory.
 * Every command needs a few FIFOs, `mkfifo` needs some tenths of a millisecond for each on a disk, and none has to persist.
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
  const stopHeartbeat = startHeartbeat(path);
  return {
    path,
    exists: () => identity !== undefined && identityOf(path) === identity,
    async remove() {
      stopHeartbeat();
      // If this fails, the next server's sweep removes it.
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
