import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';

/** Whether a person has stopped everything that uses this folder, now and for whatever starts later. */
export function isPaused(folder: string): boolean {
  return existsSync(markIn(folder));
}

/** Stops everything, or lets it run again. */
export function setPaused(folder: string, paused: boolean): void {
  makeFolder(folder);
  if (paused) writeFileSync(markIn(folder), '', { mode: 0o600 });
  else rmSync(markIn(folder), { force: true });
}

function markIn(folder: string): string {
  return join(folder, 'paused');
}
