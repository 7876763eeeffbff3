import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const made: string[] = [];

/** Creates a temporary folder and returns its canonical path; it is removed after the last test of the file. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nacre-test-')));
  made.push(folder);
  return folder;
}

/** The folders that `temporaryFolder` created and that still exist. */
export function temporaryFolders(): readonly string[] {
  return made;
}

/** Removes all folders that `temporaryFolder` created. */
export function removeTemporaryFolders(): void {
  for (const folder of made.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}
