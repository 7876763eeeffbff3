import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Place } from '../../contract/facts.ts';
import { toPlace } from '../inspect.ts';

/**
 * Tells where a shell stands, by its canonical path. Most commands leave their shell where it was: one look at the
 * directory's identity then spares resolving it again. A directory that was deleted leaves the nearest one above it.
 */
export function keepPlace(): (cwd: string) => Promise<Place> {
  let kept: { readonly cwd: string; readonly identity: string; readonly place: Place } | null = null;
  return async (cwd) => {
    const identity = identify(cwd);
    if (kept?.cwd === cwd && kept.identity === identity && identity !== '') return kept.place;
    const place = await nearest(cwd);
    kept = { cwd, identity, place };
    return place;
  };
}

function identify(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.dev} ${found.ino} ${found.mode}`;
}

async function nearest(cwd: string): Promise<Place> {
  for (let path = cwd; ; path = dirname(path)) {
    const place = await toPlace(path, '/');
    if (place.problem !== 'missing' || path === '/') return place;
  }
}
