import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { ChangeKind, ChangesEntry, ChangesState } from '../../contract/changes.ts';

/** Notes about an entry, written when its command has ended; the rest is read from its folders. */
export interface EntryNotes {
  readonly command: string;
  readonly endedAt: string;
  readonly owner?: string | undefined;
  readonly bytes: number;
  readonly counts: Readonly<Record<ChangeKind, number>>;
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

/** Writes `notes.json`; without it an entry can still be applied and undone. */
export function writeNotes(path: string, notes: EntryNotes): void {
  writeFileSync(join(path, 'notes.json'), `${JSON.stringify(notes)}\n`, { mode: 0o600 });
}

/** The entries of a store, the oldest first. */
export function listEntries(store: string): readonly StoredEntry[] {
  const folder = join(store, 'entries');
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder).flatMap((id) => readStoredEntry(store, id) ?? []);
  return entries.sort((one, other) => (one.endedAt < other.endedAt ? -1 : 1));
}

/** Reads an entry; undefined if there is none, or if nothing is left of it. */
export function readStoredEntry(store: string, id: string): StoredEntry | undefined {
  const path = entryPath(store, id);
  const state = stateOf(path);
  if (!idPattern.test(id) || state === undefined) return undefined;
  const endedAt = lstatSync(path).mtime.toISOString();
  const notes = readNotes(path) ?? { command: '', endedAt, bytes: 0, counts: none };
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

const none = { created: 0, changed: 0, deleted: 0, mode: 0 };
const idPattern = /^[\w.-]+$/;

/** The state of an entry by its folders; undefined if there are neither held nor applied changes. */
export function stateOf(path: string): ChangesState | undefined {
  if (!existsSync(path)) return undefined;
  const isApplied = readdirSync(path).some((name) => name.startsWith('old-'));
  const isHeld = readLinks(path, 'root').some((_, index) => hasEntries(join(path, 'new', String(index))));
  if (isApplied && isHeld) return 'partial';
  if (isApplied) return 'applied';
  return isHeld || hasOwnMode(path) ? 'held' : undefined;
}

// The mode of the top folder is the only change that leaves a layer empty.
function hasOwnMode(path: string): boolean {
  return readLinks(path, 'root').some((root, index) => {
    const [upper, folder] = [join(path, 'new', String(index)), root].map((one) =>
      lstatSync(one, { throwIfNoEntry: false }),
    );
    return upper !== undefined && folder !== undefined && upper.mode !== folder.mode;
  });
}

function hasEntries(folder: string): boolean {
  return existsSync(folder) && readdirSync(folder).length > 0;
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
    return JSON.parse(readFileSync(join(path, 'notes.json'), 'utf8')) as EntryNotes;
  } catch {
    return undefined;
  }
}

/** Finds both versions of a changed path, each as a folder and a path in it. */
export interface Versions {
  before(path: string): readonly [string, string] | undefined;
  after(path: string): readonly [string, string] | undefined;
}

/** Where both versions of an entry's files are; held versions are in its layer, old versions of applied ones in `old-N`. */
export function toVersions({ path, folders, state }: StoredEntry): Versions {
  const place = (path: string) => {
    const index = isAbsolute(path) ? folders.findIndex((folder) => path.startsWith(`${folder}/`)) : 0;
    const folder = folders[index] ?? '/';
    return { index, folder, inFolder: isAbsolute(path) ? relative(folder, path) : path };
  };
  const layer = state === 'applied' ? lastOld(path) : 'new';
  const inWorkspace = (one: string) => {
    const { folder, inFolder } = place(one);
    return [folder, inFolder] as const;
  };
  const inLayer = (one: string) => {
    const { index, inFolder } = place(one);
    return [join(path, layer, String(index)), inFolder] as const;
  };
  return { before: inWorkspace, after: inLayer };
}

function lastOld(path: string): string {
  const numbers = readdirSync(path).flatMap((name) => Number(/^old-(\d+)$/.exec(name)?.[1] ?? []));
  return `old-${Math.max(...numbers)}`;
}
