import { readdirSync } from 'node:fs';
import { join } from 'node:path';

/** The entries of a folder without symlinks: a rule for a symlink would grant access to its target. */
export type ReadableEntries = (folder: string) => readonly string[];

/**
 * The outermost files and folders in `folder` that contain no hidden path. Landlock can only allow, so a folder above a hidden path
 * is replaced by its entries, and what is created in it later cannot be read.
 */
export function listReadable(
  hidden: readonly string[],
  folder = '/',
  list: ReadableEntries = listEntries,
): readonly string[] {
  const below = hidden.filter((path) => path.startsWith(toPrefix(folder)));
  if (hidden.includes(folder)) return [];
  if (below.length === 0) return [folder];
  // A folder that cannot be listed, such as a /home with mode 711, still has the entries that lead to hidden paths.
  const known = below.map((path) => path.slice(toPrefix(folder).length).split('/')[0] ?? '');
  return [...new Set([...list(folder), ...known])].flatMap((name) =>
    listReadable(below, join(folder, name), list),
  );
}

/** The folders above hidden paths, whose entries `listReadable` lists. */
export function foldersAbove(hidden: readonly string[]): readonly string[] {
  const above = hidden.flatMap((path) => {
    const parts = path.split('/').slice(1, -1);
    return ['/', ...parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`)];
  });
  return [...new Set(above)];
}

function toPrefix(folder: string): string {
  return folder === '/' ? '/' : `${folder}/`;
}

function listEntries(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
      entry.isSymbolicLink() ? [] : [entry.name],
    );
  } catch {
    return [];
  }
}
