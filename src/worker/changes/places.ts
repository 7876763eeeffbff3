import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../support/make-folder.ts';

/** The store in the state folder, for workspaces on the same mount. */
export function mainStore(stateDir: string): string {
  return join(stateDir, 'changes');
}

/** The stores outside of the state folder, on the mounts of other workspaces. Commands must not see them either. */
export function findOtherStores(stateDir: string): readonly string[] {
  const folder = placesOf(stateDir);
  // This runs before every command, and usually finds no places.
  if (!existsSync(folder)) return [];
  return readdirSync(folder).map((name) => readlinkSync(join(folder, name)));
}

/** Creates the folders of a store, and records it if it is outside of the state folder. */
export function rememberStore(stateDir: string, store: string): void {
  makeFolder(placesOf(stateDir));
  makeFolder(join(store, 'layers'));
  if (store === mainStore(stateDir)) return;
  const name = createHash('sha256').update(store).digest('hex').slice(0, 16);
  const link = join(placesOf(stateDir), name);
  if (existsSync(link)) return;
  try {
    symlinkSync(store, link);
  } catch (error) {
    // Another process has recorded it in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}

function placesOf(stateDir: string): string {
  return join(mainStore(stateDir), 'places');
}
