import { closeSync, constants, existsSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';

/** nacre's own files and folders, which commands must not read. */
export interface OwnFiles {
  /** Takes one more into view. */
  add(path: string): void;
  /** Where they are now: at their own places, and where somebody has moved them. */
  find(): readonly string[];
  close(): void;
}

/** One that is held open, and where it was when it was last looked for by name. */
interface Held {
  readonly fd: number;
  readonly place: string;
}

/**
 * Keeps nacre's own files in view. A command of the same user can rename a folder above them, and what hides them
 * from the next command has to stand where they are then: an open descriptor tells.
 */
export function holdOwnFiles(known: readonly string[]): OwnFiles {
  const paths = [...known];
  const held = new Map<string, Held>();
  const placeOf = (path: string): readonly (readonly [string, string])[] => {
    const identity = toIdentity(path);
    if (identity === undefined) return [];
    const known = held.get(identity);
    // Where it has the same name as before nothing above it has another one; this is asked before every command.
    if (known && linkOf(known) === known.place) return [[identity, known.place]];
    const [place] = toCanonical(path);
    if (place === undefined) return [];
    hold(held, identity, place);
    return [[identity, place]];
  };
  return {
    add: (path) => void paths.push(path),
    find() {
      const named = new Map(paths.flatMap(placeOf));
      const moved = [...held].flatMap(([identity, one]) =>
        named.has(identity) ? [] : whereIs(identity, one),
      );
      return toOutermost([...new Set([...named.values(), ...moved])]);
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

function hold(held: Map<string, Held>, identity: string, place: string): void {
  if (toIdentity(place) !== identity) return;
  try {
    const fd = held.get(identity)?.fd ?? openSync(place, constants.O_RDONLY | constants.O_NONBLOCK);
    held.set(identity, { fd, place });
  } catch {
    // What we cannot open ourselves is hidden at its own place alone.
  }
}

// For what was deleted the kernel tells a name that leads nowhere, or to something else.
function whereIs(identity: string, held: Held): readonly string[] {
  const path = linkOf(held);
  return path !== undefined && toIdentity(path) === identity ? [path] : [];
}

function linkOf({ fd }: Held): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function toIdentity(path: string): string | undefined {
  const { dev, ino } = statSync(path, { throwIfNoEntry: false }) ?? {};
  return ino === undefined ? undefined : `${dev} ${ino}`;
}

// Hiding a folder hides what lies in it; to hide that again would show its name.
function toOutermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}
