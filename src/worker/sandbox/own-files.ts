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

/** nacre's own files and folders, which commands must not read. */
export interface OwnFiles {
  /** Where they are now: at their own places, and where somebody has moved them. */
  find(): readonly string[];
  close(): void;
}

/** One that is held open, and where it was when it was last looked for by name. */
interface Held {
  readonly identity: string;
  readonly fd: number;
  readonly place: string;
}

/**
 * Keeps nacre's own files in view. A command of the same user can rename a folder above them, and what hides them
 * from the next command has to stand where they are then: an open descriptor tells.
 */
export function holdOwnFiles(paths: readonly string[]): OwnFiles {
  const held = new Map<string, Held>();
  const placesOf = (path: string): readonly (readonly [string, readonly string[]])[] => {
    const identity = toIdentity(path);
    if (identity === undefined) return [];
    // By its name as well: a file may have two.
    const key = `${identity} ${path}`;
    const known = held.get(key);
    // Where it has the same name as before nothing above it has another one; this is asked before every command.
    if (known && linkOf(known) === known.place) return [[key, [known.place]]];
    const [place] = toCanonical(path);
    if (place === undefined) return [];
    const one = hold(held, key, { identity, place });
    // Somebody may have moved it and put another name of it in its place.
    return [[key, one ? [place, ...whereIs(one)] : [place]]];
  };
  return {
    find() {
      const named = new Map(paths.flatMap(placesOf));
      const missing = [...held].filter(([key]) => !named.has(key));
      const moved = missing.flatMap(([, one]) => whereIs(one));
      for (const [key, one] of missing) letGoOfDeleted(held, key, one);
      return toOutermost([...new Set([...[...named.values()].flat(), ...moved])]);
    },
    close() {
      for (const { fd } of held.values()) closeSync(fd);
      held.clear();
    },
  };
}

/** What a path really names; nothing for one that is not there. */
export function toCanonical(path: string): readonly string[] {
  // Most of what is asked for is not there, and an error takes longer than a look.
  if (!existsSync(path)) return [];
  try {
    return [realpathSync.native(path)];
  } catch {
    return [];
  }
}

function hold(
  held: Map<string, Held>,
  key: string,
  { identity, place }: Pick<Held, 'identity' | 'place'>,
): Held | undefined {
  if (toIdentity(place) !== identity) return undefined;
  try {
    const fd = held.get(key)?.fd ?? openSync(place, constants.O_RDONLY | constants.O_NONBLOCK);
    const one = { identity, fd, place };
    held.set(key, one);
    return one;
  } catch {
    // What we cannot open ourselves is hidden at its own place alone.
    return undefined;
  }
}

// It has no name any more by which a command could reach it.
function letGoOfDeleted(held: Map<string, Held>, key: string, { fd }: Held): void {
  if (fstatSync(fd).nlink > 0) return;
  closeSync(fd);
  held.delete(key);
}

// For what was deleted the kernel tells a name that leads nowhere, or to something else.
function whereIs(held: Held): readonly string[] {
  const path = linkOf(held);
  return path !== undefined && toIdentity(path) === held.identity ? [path] : [];
}

function linkOf({ fd }: Held): string | undefined {
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
    // A folder above it is a file, or closed to us and with that to our commands.
    return undefined;
  }
}

// Hiding a folder hides what lies in it; to hide that again would show its name.
function toOutermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}
