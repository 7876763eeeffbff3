import { existsSync, lstatSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChangeKind, ChangesEntry, ChangesState } from '../../contract/changes.ts';
import { readRegularFile } from '../../support/regular-file.ts';

/** Metadata of an entry, written when its command has ended; everything else is read from its folders. */
export interface EntryNotes {
  readonly command: string;
  readonly endedAt: string;
  readonly owner?: string | undefined;
  readonly bytes: number;
  readonly counts: Readonly<Record<ChangeKind, number>>;
  readonly asksUser?: boolean | undefined;
}

/** The kept changes of one command. */
export interface StoredEntry extends ChangesEntry {
  readonly store: string;
  readonly path: string;
}

/** The folder of an entry. */
export function entryPath(store: string, id: string): string {
  return join(store, 'entries', id);
}

// Commands are truncated in `notes.json`, because every list reads the notes of all entries and shows less than this.
const maxCommandChars = 2_000;

/** Writes `notes.json`. On a full disk it does not: the local user can still apply and undo the entry. */
export function writeNotes(path: string, notes: EntryNotes): void {
  const command = notes.command.slice(0, maxCommandChars).toWellFormed();
  try {
    writeFileSync(join(path, 'notes.json'), `${JSON.stringify({ ...notes, command })}\n`, { mode: 0o600 });
  } catch {
    return;
  }
}

/** The entries of a store, the oldest first. Other calls run in between, because there may be thousands. */
export async function listEntries(store: string): Promise<readonly StoredEntry[]> {
  const ids = await readdir(join(store, 'entries')).catch(() => []);
  const entries: StoredEntry[] = [];
  for (const [index, id] of ids.entries()) {
    if (index % readAtOnce === readAtOnce - 1) await new Promise((resolve) => setImmediate(resolve));
    const entry = readStoredEntry(store, id);
    if (entry) entries.push(entry);
  }
  return entries.sort(byEnd);
}

// Reading an entry takes about 0.1 ms, so this blocks the event loop for about 2 ms.
const readAtOnce = 20;

/** Orders entries by the end of their commands, the oldest first. */
export function byEnd(one: StoredEntry, other: StoredEntry): number {
  return one.endedAt < other.endedAt ? -1 : 1;
}

/** Reads an entry; undefined if it is missing or empty. */
export function readStoredEntry(store: string, id: string): StoredEntry | undefined {
  try {
    return readEntry(store, id);
  } catch {
    // Another process has removed it in the meantime.
    return undefined;
  }
}

function readEntry(store: string, id: string): StoredEntry | undefined {
  const path = entryPath(store, id);
  const state = stateOf(path);
  if (!idPattern.test(id) || state === undefined) return undefined;
  const endedAt = lstatSync(path).mtime.toISOString();
  const notes = readNotes(path) ?? { command: '', endedAt, bytes: 0, counts: noChanges };
  return {
    id,
    store,
    path,
    state,
    ...notes,
    folders: readLinks(path, 'root'),
    onTopOf: readLinks(path, 'below'),
  };
}

/** The counts of an entry without notes. */
export const noChanges = { created: 0, changed: 0, deleted: 0, mode: 0 };
const idPattern = /^[\w.-]+$/;

/** The state of an entry by its folders; undefined if there are neither held nor applied changes. */
export function stateOf(path: string): ChangesState | undefined {
  if (!existsSync(path)) return undefined;
  const isApplied = readdirSync(path).some((name) => name.startsWith('old-'));
  const isHeld = readLinks(path, 'root').some((_, index) =>
    hasEntries(join(path, 'new', String(index)), !isApplied),
  );
  if (isApplied && isHeld) return 'partial';
  if (isApplied) return 'applied';
  return isHeld || hasOwnMode(path) ? 'held' : undefined;
}

// A change of the top folder's mode is the only change that leaves a layer empty.
function hasOwnMode(path: string): boolean {
  return readLinks(path, 'root').some((root, index) => {
    const [upper, folder] = [join(path, 'new', String(index)), root].map((one) =>
      lstatSync(one, { throwIfNoEntry: false }),
    );
    return upper !== undefined && folder !== undefined && upper.mode !== folder.mode;
  });
}

// A command may have made the top folder unreadable.
function hasEntries(folder: string, otherwise: boolean): boolean {
  try {
    return readdirSync(folder).length > 0;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EACCES' && otherwise;
  }
}

/** The targets of the symlinks `NAME-0`, `NAME-1` and so on. */
export function readLinks(path: string, name: string): readonly string[] {
  const links: string[] = [];
  for (let index = 0; ; index += 1) {
    try {
      links.push(readlinkSync(join(path, `${name}-${index}`)));
    } catch {
      return links;
    }
  }
}

function readNotes(path: string): EntryNotes | undefined {
  try {
    return JSON.parse(readRegularFile(join(path, 'notes.json'))) as EntryNotes;
  } catch {
    return undefined;
  }
}

/** The folder with the changes that `scan` lists: `new` or, if they are applied, the newest `old-N`. */
export function layerOf({ path, state }: Pick<StoredEntry, 'path' | 'state'>): string {
  if (state !== 'applied') return join(path, 'new');
  const numbers = readdirSync(path).flatMap((name) => Number(/^old-(\d+)$/.exec(name)?.[1] ?? []));
  return join(path, `old-${Math.max(...numbers)}`);
}

/** Marks an entry whose changes are about to be undone. They are held afterwards, but `heldBy` leaves them out, so later commands do not see them. */
export function markUndone(path: string): void {
  try {
    writeFileSync(join(path, 'undone'), '', { mode: 0o600 });
  } catch {
    // A full disk must not prevent the undo. A later held command then sees the changes, and its reply names them (`noteOnStack`).
  }
}

/** True if the changes of an entry were applied and undone. */
export function isUndone(path: string): boolean {
  return existsSync(join(path, 'undone'));
}
