import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from './make-folder.ts';

/** Whether `nacre pause` is in effect for this state folder; it also applies to servers that start later. */
export function isPaused(folder: string): boolean {
  return existsSync(markIn(folder));
}

/** Creates or removes the `paused` file, which every server of this state folder checks. */
export function setPaused(folder: string, paused: boolean): void {
  makeFolder(folder);
  if (paused) writeFileSync(markIn(folder), '', { mode: 0o600 });
  else rmSync(markIn(folder), { force: true });
}

function markIn(folder: string): string {
  return join(folder, 'paused');
}
