import { lstatSync, type Stats } from 'node:fs';

/** One thing that `nacre uninstall` removes. */
export interface Removal {
  /** Its name for the user, such as `the entry of Claude Code`. */
  readonly what: string;
  readonly path: string;
  /** Removes it; throws if that fails. */
  remove(): void;
}

/** The file or folder at a path, without following a symbolic link; undefined if there is none or lstat() fails. */
export function findAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
