import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../support/make-folder.ts';
import { readRegularFile } from '../../support/regular-file.ts';
import { createDeferred, type Deferred } from '../../support/timing.ts';
import type { LayeredFolder } from './mount-layers.ts';

/** The folders of a command's layer, before it has run. */
export interface Layer {
  /** The folder of the layer (`helper-script.ts` describes its contents). */
  readonly path: string;
  /** The store that contains `path`. */
  readonly store: string;
  readonly folders: readonly LayeredFolder[];
  /** The ids of the entries below it, the oldest first. */
  readonly onTopOf: readonly string[];
  /** Resolves when the changes of its command are applied or held, or when it has none. */
  readonly done: Deferred<void>;
}

/** The parts of a layer that `createLayer` does not choose. */
export interface LayerPlan {
  readonly store: string;
  /** The name of its folder below `STORE/layers`. */
  readonly name: string;
  readonly folders: readonly Pick<LayeredFolder, 'folder' | 'aliases'>[];
  /** Entries with held changes on which it is based, the oldest first. */
  readonly onTopOf: readonly string[];
}

/** Creates an empty layer. */
export function createLayer({ store, name, folders, onTopOf }: LayerPlan): Layer {
  const path = join(store, 'layers', name);
  makeFolder(path);
  for (const part of ['new', 'work']) mkdirSync(join(path, part), { mode: 0o700 });
  const layered = folders.map(({ folder, aliases }, index) => {
    const [upper, work] = ['new', 'work'].map((part) => join(path, part, String(index)));
    for (const made of [upper, work]) mkdirSync(made ?? '', { mode: 0o700 });
    symlinkSync(folder, join(path, `root-${index}`));
    const below = onTopOf.map((id) => join(store, 'entries', id, 'new', String(index))).reverse();
    return { folder, aliases, upper: upper ?? '', work: work ?? '', below };
  });
  for (const [index, id] of onTopOf.entries()) symlinkSync(id, join(path, `below-${index}`));
  prepareParts(path, folders.length);
  for (const folder of layered) copyStatus(folder);
  return { path, store, folders: layered, onTopOf, done: createDeferred<void>() };
}

// Creating a file can take half a millisecond (ext4 skips inodes that were freed a moment ago), so the usual ones are created
// before the command: `helper-script.ts` renames those in `spare` when it needs them.
function prepareParts(path: string, folders: number): void {
  const indexes = Array.from({ length: folders }, (_, index) => `spare/${index}`);
  for (const folder of ['spare', 'spare/old', ...indexes]) mkdirSync(join(path, folder), { mode: 0o700 });
  symlinkSync('apply new old-1 0', join(path, 'spare/doing'));
  for (const file of ['began', 'command', 'notes.json', 'spare/applied'])
    writeFileSync(join(path, file), '', { mode: 0o600 });
}

/** Notes the id of the command, and the time in the clock of the file system, just before the command runs. */
export function beginLayer({ path, folders }: Layer, id: string): void {
  writeFileSync(join(path, 'command'), id, { flag: 'r+' });
  for (const folder of folders) copyStatus(folder);
  stamp(join(path, 'began'));
}

/** The id of the command that has run in a layer; undefined if none has. */
export function readCommandId(path: string): string | undefined {
  try {
    return readRegularFile(join(path, 'command')) || undefined;
  } catch {
    return undefined;
  }
}

/** True if no command has changed anything in the layer. */
export function isUnchanged({ folders }: Layer): boolean {
  // The mode is compared first, because a command may have made the folder unreadable.
  return folders.every(
    ({ folder, upper }) =>
      lstatSync(upper).mode === lstatSync(folder).mode && readdirSync(upper).length === 0,
  );
}

// The top folder of an overlay has the owner, mode and time of its upper layer.
function copyStatus({ folder, upper }: LayeredFolder): void {
  const [wanted, found] = [lstatSync(folder), lstatSync(upper)];
  if (wanted.uid !== found.uid || wanted.gid !== found.gid)
    tryTo(() => chownSync(upper, wanted.uid, wanted.gid));
  if (wanted.mode !== found.mode) chmodSync(upper, wanted.mode & 0o7777);
  if (wanted.mtimeMs !== found.mtimeMs) utimesSync(upper, wanted.atime, wanted.mtime);
}

// An ordinary user cannot chown() a folder; commands then see it as their own.
function tryTo(step: () => void): void {
  try {
    step();
  } catch {
    return;
  }
}

const maxTries = 50;

// See `stamp` in `helper-script.ts`. Without timestamps of fine granularity it takes up to one tick of the kernel.
function stamp(path: string): void {
  let last = lstatSync(path, { bigint: true }).ctimeNs;
  for (let tries = 1; tries <= maxTries; tries += 1) {
    chmodSync(path, tries % 2 === 0 ? 0o600 : 0o700);
    const now = lstatSync(path, { bigint: true }).ctimeNs;
    if (tries > 1 && now !== last) return;
    last = now;
    if (tries > 1) Atomics.wait(pause, 0, 0, 1);
  }
}

const pause = new Int32Array(new SharedArrayBuffer(4));
