import { closeSync, constants, existsSync, openSync, readlinkSync, realpathSync, statSync } from 'node:fs';

/** nacre's own files and folders, which commands must not read. */
export interface OwnFiles {
  /** Where they are now: at their own places, and where somebody has moved them. */
  find(): readonly string[];
  close(): void;
}

/**
 * Keeps nacre's own files in view. A command of the same user can rename a folder above them, and what hides them
 * from the next command has to stand where they are then: an open descriptor tells.
 */
export function holdOwnFiles(paths: readonly string[]): OwnFiles {
  const held = new Map<string, number>();
  return {
    find() {
      const places = paths.flatMap(toCanonical);
      for (const place of places) hold(held, place);
      const moved = [...held].flatMap(([identity, fd]) => whereIs(identity, fd));
      return toOutermost([...new Set([...places, ...moved])]);
    },
    close() {
      for (const fd of held.values()) closeSync(fd);
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

function hold(held: Map<string, number>, path: string): void {
  const identity = toIdentity(path);
  if (identity === undefined || held.has(identity)) return;
  try {
    held.set(identity, openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
  } catch {
    // What we cannot open ourselves is hidden at its own place alone.
  }
}

// For what was deleted the kernel tells a name that leads nowhere, or to something else.
function whereIs(identity: string, fd: number): readonly string[] {
  try {
    const path = readlinkSync(`/proc/self/fd/${fd}`);
    return toIdentity(path) === identity ? [path] : [];
  } catch {
    return [];
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
