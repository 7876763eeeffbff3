import { realpathSync } from 'node:fs';
import { isTooWide } from '../../support/is-too-wide.ts';

/** Whether a sandbox of this level would refuse every command in a folder, since it is no workspace. */
export function holdsNoSandbox(folder: string, level: string | undefined, home: string): boolean {
  if (level === undefined || level === 'off') return false;
  return isTooWide(toCanonical(folder), home) || isTooWide(toCanonical(folder), toCanonical(home));
}

function toCanonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
