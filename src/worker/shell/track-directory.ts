import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place } from '../../contract/facts.ts';
import { toPlace } from '../machine/inspect.ts';

/** A shell's directory. */
export interface TrackedDirectory {
  readonly place: Place;
  /** True when `stat` finds another inode than at the previous call: the shell is still in the deleted directory. */
  readonly isReplaced: boolean;
}

interface Known {
  readonly cwd: string;
  readonly stats: Stats | undefined;
  readonly place: Place;
}

/**
 * Returns a function that resolves a shell's directory to its canonical path. Most commands do not change directory, and
 * then one `stat` replaces the resolution. For a directory that was deleted or cannot be entered, the nearest usable
 * parent is returned.
 */
export function createDirectoryTracker(): (cwd: string) => Promise<TrackedDirectory> {
  let known: Known | null = null;
  return async (cwd) => {
    const stats = tryStat(cwd);
    const last = known?.cwd === cwd ? known : null;
    const isReplaced = last !== null && !isSameFile(last.stats, stats);
    if (last?.stats && !isReplaced && last.stats.mode === stats?.mode)
      return { place: last.place, isReplaced };
    const place = await nearestPlace(cwd);
    known = { cwd, stats, place };
    return { place, isReplaced };
  };
}

// ENAMETOOLONG and ELOOP are thrown even with `throwIfNoEntry: false`.
function tryStat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isSameFile(one: Stats | undefined, other: Stats | undefined): boolean {
  return one?.dev === other?.dev && one?.ino === other?.ino;
}

async function nearestPlace(cwd: string): Promise<Place> {
  for (let path = cwd; ; path = dirname(path)) {
    const place = await toPlace(path, '/');
    if (place.problem === undefined || path === '/') return place;
  }
}
