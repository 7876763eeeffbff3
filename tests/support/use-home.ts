import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, expect } from 'vitest';
import { createPlace, runInProcess, survivors } from './nacre.ts';

/** Gives each test of a file a new home directory; a test fails if it leaves processes running. */
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
    /** Sets environment variables for the rest of the test. */
    setEnv(env: Readonly<Record<string, string>>): void {
      place = { ...place, env: { ...place.env, ...env } };
    },
    /** The backups that `nacre init` made of files that it changed. */
    backups(): readonly string[] {
      const folder = at('.local/state/nacre/backups');
      return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    },
  };
}
