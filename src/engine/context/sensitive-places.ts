import type { Backend } from '../../contract/backend.ts';
import type { Place } from '../../contract/facts.ts';
import { sensitiveDirectories } from '../../policy/decide-sensitive.ts';

/** Canonical paths of `sensitiveDirectories`, which may be symlinks. */
export interface SensitivePlaces {
  resolve(homes: readonly string[]): Promise<readonly Place[]>;
}

const validMs = 5_000;

/** Resolves the directories with `backend.inspect` and caches them for `validMs`: they rarely move between two calls. */
export function createSensitivePlaces(backend: Pick<Backend, 'inspect'>): SensitivePlaces {
  let cached: { readonly places: Promise<readonly Place[]>; readonly until: number } | undefined;
  return {
    resolve(homes) {
      if (cached && cached.until > performance.now()) return cached.places;
      const roots = sensitiveDirectories(homes);
      const places = backend.inspect({ cwd: undefined, roots, programs: [] }).then((facts) => facts.roots);
      cached = { places, until: performance.now() + validMs };
      return places;
    },
  };
}
