import { realpathSync } from 'node:fs';

/** A path behind all links; as it is given where it does not lead anywhere. */
export function canonicalOrGiven(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
