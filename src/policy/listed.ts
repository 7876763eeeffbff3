import { baseName, directoryOf, normalisePath } from './words/paths.ts';

const systemDirs = ['/bin', '/usr/bin', '/sbin', '/usr/sbin'];

/** Returns true if a program as written is listed (P3): `git`, `/usr/bin/git` by its base name, or a listed literal path. */
export function isListed(name: string, listed: readonly string[], programDirs: readonly string[]): boolean {
  if (listed.includes(name)) return true;
  if (!name.startsWith('/')) return false;
  const path = normalisePath(name, undefined) ?? name;
  const inPlace = [...systemDirs, ...programDirs].includes(directoryOf(path));
  return listed.includes(path) || (inPlace && listed.includes(baseName(path)));
}
