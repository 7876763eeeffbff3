import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Removes the files of a folder whose mtime is more than `olderThanMs` ago. */
export function removeOldFiles(dir: string, olderThanMs: number): void {
  const before = Date.now() - olderThanMs;
  for (const name of readdirSync(dir)) {
    const path = join(dir, name);
    if ((statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? before) < before)
      rmSync(path, { force: true });
  }
}
