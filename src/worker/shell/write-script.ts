import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../../support/make-folder.ts';

/** Writes a script with mode `0o600`, so that only its owner can read it, and returns its path. */
export function writeScript(path: string, script: string): string {
  makeFolder(dirname(path));
  writeFileSync(path, script, { mode: 0o600 });
  return path;
}
