import { realpathSync } from 'node:fs';

/** The canonical path by realpath(3), or `path` itself if it cannot be resolved. */
export function tryRealpath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}
