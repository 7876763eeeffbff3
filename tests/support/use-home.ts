import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { createPlace, runInProcess, survivors } from './nacre.ts';

/** A home directory of its own for each test of a file, in which nacre runs; what survives a test fails it. */
export function useHome() {
  let place = createPlace();
  afterEach(async () => {
    expect(await survivors(place.mark)).toEqual([]);
    place = createPlace();
  });
  const at = (path: string) => join(place.cwd, path);
  return {
    at,
    place: () => place,
    nacre: (...argv: string[]) => runInProcess(argv, place),
    read: (path: string) => readFileSync(at(path), 'utf8'),
    put(path: string, text: string): void {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), text);
    },
    /** Sets variables until the end of the test. */
    setEnv(env: Readonly<Record<string, string>>): void {
      place = { ...place, env: { ...place.env, ...env } };
    },
    /** The files that were kept before nacre init changed them. */
    backups(): readonly string[] {
      const folder = at('.local/state/nacre/backups');
      return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    },
  };
}
