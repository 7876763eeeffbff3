import { baseName, directoryOf, normalisePath } from './words/paths.ts';

const systemDirs = ['/bin', '/usr/bin', '/sbin', '/usr/sbin'];

/** Whether a program as written is on the list (P3): by name, by basename in a system directory, or literally. */
export function isListed(name: string, listed: readonly string[], programDirs: readonly string[]): boolean {
  if (listed.includes(name)) return true;
  if (!name.startsWith('/')) return false;
  const path = normalisePath(name, undefined) ?? name;
  const inPlace = [...systemDirs, ...programDirs].includes(directoryOf(path));
  return listed.includes(path) || (inPlace && listed.includes(baseName(path)));
}
