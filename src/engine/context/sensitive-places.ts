import type { Backend } from '../../contract/backend.ts';
import type { Place } from '../../contract/facts.ts';
import { sensitiveDirectories } from '../../policy/decide-sensitive.ts';

/** Canonical paths of `sensitiveDirectories`, which may be symlinks. */
export interface SensitivePlaces {
  resolve(homes: readonly string[], machine?: string): Promise<readonly Place[]>;
}

const validMs = 5_000;

/** Resolves the directories with `backend.inspect` and caches them for `validMs`: they rarely move between two calls. */
export function createSensitivePlaces(backend: Pick<Backend, 'inspect'>): SensitivePlaces {
  const known = new Map<string | undefined, { places: Promise<readonly Place[]>; until: number }>();
  return {
    resolve(homes, machine) {
      const cached = known.get(machine);
      if (cached && cached.until > performance.now()) return cached.places;
      const roots = sensitiveDirectories(homes);
      const places = backend
        .inspect({ machine, cwd: undefined, roots, programs: [] })
        .then((facts) => facts.roots);
      known.set(machine, { places, until: performance.now() + validMs });
      return places;
    },
  };
}
