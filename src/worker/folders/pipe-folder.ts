import { lstatSync, mkdirSync, rmdirSync, statfsSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import type { Environment } from '../machine/environment.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { checkPlace, keepBeating, makePrivate, sweep } from './instance-folder.ts';

/** The private folder in memory in which the pipes of one server are made. */
export interface PipeFolder {
  readonly path: string;
  /** False once it was removed, whatever has taken its place. */
  isThere(): boolean;
  remove(): Promise<void>;
}

// File systems that are nothing but memory: tmpfs and ramfs.
const inMemory: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);

/**
 * The folders that hold the pipes of all servers of this user, where the machine has memory for them. They are the user's alone:
 * others could put something in the way of a sweep, and one folder hides the pipes of every server from commands.
 */
export function memoryFolders({ XDG_RUNTIME_DIR: own }: Environment): readonly string[] {
  const places = [...(own !== undefined && isAbsolute(own) ? [own] : []), '/dev/shm'];
  return places.map((place) => join(place, `nacre-${process.getuid?.() ?? 'user'}`));
}

/**
 * Makes the folder for pipes, and sweeps those of dead servers; null where there is no place in memory. Every command needs
 * some pipes of its own, a disk takes some tenths of a millisecond for each, and none of it has to last.
 */
export function createPipeFolder(
  instance: string,
  folders: readonly string[],
  table: ProcessTable,
): PipeFolder | null {
  for (const folder of folders) sweepPipes(folder, table).catch(() => {});
  const path = folders
    .filter((folder) => isFit(dirname(folder)))
    .map((folder) => join(folder, basename(instance)))
    .find(isMade);
  return path === undefined ? null : toPipeFolder(path);
}

function toPipeFolder(path: string): PipeFolder {
  const made = identityOf(path);
  const quiet = keepBeating(path);
  return {
    path,
    isThere: () => made !== undefined && identityOf(path) === made,
    async remove() {
      quiet();
      // What cannot be removed is left to the sweep of the next server.
      await rm(path, { recursive: true, force: true }).catch(() => {});
      removeIfEmpty(dirname(path));
    },
  };
}

/** Removes the pipes of servers that are no longer alive; returns the names of their folders. */
export async function sweepPipes(folder: string, table: ProcessTable): Promise<readonly string[]> {
  if (!isOwn(folder)) return [];
  const swept = await sweep(folder, table);
  removeIfEmpty(folder);
  return swept;
}

function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function isFit(place: string): boolean {
  try {
    checkPlace(place, statSync(place));
    return inMemory.has(statfsSync(place).type);
  } catch {
    return false;
  }
}

// Only a folder that was not there before is certainly ours.
function isMade(path: string): boolean {
  try {
    makePrivate(dirname(path));
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
    // Another server is at home there.
  }
}
