import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';

/** One of nacre's own files, kept open, and its path when `toCanonical` last found it. */
interface OpenFile {
  /** `dev` and `ino`. */
  readonly identity: string;
  readonly fd: number;
  readonly path: string;
}

/**
 * nacre's own files and folders, which commands must not read. A command of the same user can rename a parent
 * folder, so each file stays open, and `/proc/self/fd` shows its current path when the next sandbox has to hide it.
 */
export class OwnFiles {
  readonly #paths: readonly string[];
  readonly #findMore: () => readonly string[];
  readonly #open = new Map<string, OpenFile>();

  /** `findMore` returns further paths; it is called by every `find`. */
  constructor(paths: readonly string[], findMore: () => readonly string[] = () => []) {
    this.#paths = paths;
    this.#findMore = findMore;
  }

  /** The current paths: those that exist, and where files were moved to. */
  find(): readonly string[] {
    const named = new Map([...this.#paths, ...this.#findMore()].flatMap((path) => this.#pathsOf(path)));
    const missing = [...this.#open].filter(([key]) => !named.has(key));
    const moved = missing.flatMap(([, file]) => currentPath(file));
    for (const [key, file] of missing) this.#closeIfDeleted(key, file);
    return toOutermost([...new Set([...[...named.values()].flat(), ...moved])]);
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd);
    this.#open.clear();
  }

  #pathsOf(path: string): readonly (readonly [key: string, paths: readonly string[]])[] {
    const identity = toIdentity(path);
    if (identity === undefined) return [];
    // The path is part of the key, because a file may have two names.
    const key = `${identity} ${path}`;
    const known = this.#open.get(key);
    // Called before every command: if `/proc/self/fd` shows the same path, no folder above the file was renamed.
    if (known && readLink(known) === known.path) return [[key, [known.path]]];
    const [canonical] = toCanonical(path);
    if (canonical === undefined) return [];
    const file = this.#tryToOpen(key, identity, canonical);
    // The file may have been moved and a link to it left in its place.
    return [[key, file ? [canonical, ...currentPath(file)] : [canonical]]];
  }

  #tryToOpen(key: string, identity: string, path: string): OpenFile | undefined {
    if (toIdentity(path) !== identity) return undefined;
    try {
      const fd = this.#open.get(key)?.fd ?? openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const file = { identity, fd, path };
      this.#open.set(key, file);
      return file;
    } catch {
      // EACCES: a file that we cannot open is only hidden at its own path.
      return undefined;
    }
  }

  // A file with `nlink` 0 has no path left for a command.
  #closeIfDeleted(key: string, { fd }: OpenFile): void {
    if (fstatSync(fd).nlink > 0) return;
    closeSync(fd);
    this.#open.delete(key);
  }
}

/** The `realpath` of a path, as a list that is empty if the path does not exist. */
export function toCanonical(path: string): readonly string[] {
  // Most of the paths do not exist, and an exception takes longer than `existsSync`.
  if (!existsSync(path)) return [];
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

// For a deleted file, the link in /proc/self/fd names a path that does not exist or is another file now.
function currentPath(file: OpenFile): readonly string[] {
  const path = readLink(file);
  return path !== undefined && toIdentity(path) === file.identity ? [path] : [];
}

function readLink({ fd }: OpenFile): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function toIdentity(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? {};
    return ino === undefined ? undefined : `${dev} ${ino}`;
  } catch {
    // ENOTDIR or EACCES: a parent folder is a file, or we may not enter it, and so neither may our commands.
    return undefined;
  }
}

// Hiding a folder hides everything in it; a second mount inside would only reveal a name.
function toOutermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}
