import { type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place } from '../../contract/facts.ts';
import { toPlace } from '../machine/inspect.ts';

/** Where a shell stands. */
export interface KeptPlace {
  readonly place: Place;
  /** True when another directory has the path since it was last looked at: the shell is still in the one that was deleted. */
  readonly isReplaced: boolean;
}

interface Kept {
  readonly cwd: string;
  readonly found: Stats | undefined;
  readonly place: Place;
}

/**
 * Tells where a shell stands, by its canonical path. Most commands leave their shell where it was: one look at the
 * directory's identity then spares resolving it again. One that was deleted or cannot be entered any more leaves the
 * nearest one above it.
 */
export function keepPlace(): (cwd: string) => Promise<KeptPlace> {
  let kept: Kept | null = null;
  return async (cwd) => {
    const found = tryToStat(cwd);
    const last = kept?.cwd === cwd ? kept : null;
    const isReplaced = last !== null && !isSame(last.found, found);
    if (last?.found && !isReplaced && last.found.mode === found?.mode)
      return { place: last.place, isReplaced };
    const place = await nearest(cwd);
    kept = { cwd, found, place };
    return { place, isReplaced };
  };
}

// A path may be too long, or lead round in circles.
function tryToStat(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isSame(one: Stats | undefined, other: Stats | undefined): boolean {
  return one?.dev === other?.dev && one?.ino === other?.ino;
}

async function nearest(cwd: string): Promise<Place> {
  for (let path = cwd; ; path = dirname(path)) {
    const place = await toPlace(path, '/');
    if (place.problem === undefined || path === '/') return place;
  }
}
