import { mkdirSync, statfsSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { basename, isAbsolute, join } from 'node:path';
import type { Environment } from './environment.ts';
import { checkPlace, isDeadServer } from './instance-folder.ts';
import type { ProcessTable } from './process-table.ts';

/** The private folder in which the pipes of one server are made. */
export interface PipeFolder {
  readonly path: string;
  remove(): Promise<void>;
}

// File systems that are nothing but memory: tmpfs and ramfs.
const inMemory: ReadonlySet<number> = new Set([0x01021994, 0x858458f6]);
const prefix = 'nacre-';

/** Folders in which a user of this machine may find some memory. */
export function memoryPlaces({ XDG_RUNTIME_DIR: own }: Environment): readonly string[] {
  return [...(own !== undefined && isAbsolute(own) ? [own] : []), '/dev/shm'];
}

/**
 * Makes the folder for pipes, and sweeps those of dead servers. Every command needs some pipes of its own, a disk takes some
 * tenths of a millisecond for each, and none of it has to last: it is in memory where there is a place for that, and
 * in the server's own folder otherwise.
 */
export function createPipeFolder(
  instance: string,
  places: readonly string[],
  table: ProcessTable,
): PipeFolder {
  for (const place of places) sweepPipes(place, table).catch(() => {});
  const place = places.find((one) => isFit(one) && isMade(toOwn(one, instance)));
  if (place === undefined) return { path: join(instance, 'fifos'), remove: async () => {} };
  const path = toOwn(place, instance);
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

/** Removes the pipes of servers that are no longer alive; returns the names of their folders. */
export async function sweepPipes(place: string, table: ProcessTable): Promise<readonly string[]> {
  const swept: string[] = [];
  for (const name of await readdir(place)) {
    if (!name.startsWith(prefix)) continue;
    if (!(await isDeadServer(name.slice(prefix.length), table))) continue;
    // What belongs to somebody else stays, and is no concern of ours.
    await rm(join(place, name), { recursive: true, force: true }).then(
      () => swept.push(name),
      () => {},
    );
  }
  return swept;
}

function toOwn(place: string, instance: string): string {
  return join(place, `${prefix}${basename(instance)}`);
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
    mkdirSync(path, { mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}
