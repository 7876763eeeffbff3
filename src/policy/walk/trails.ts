import { limits } from '../words/limits.ts';

/** The trail after a further `cd`. */
export function followed(trail: string, path: string): string {
  const isPlain = !/(?:^|\/)\.{0,2}(?:\/|$)/.test(path);
  return isPlain && trail !== '' ? `${trail}/${path}` : relativePath(`${trail}/${path}`);
}

/** Resolves `.` and `..` in a relative path as far as possible. */
export function relativePath(path: string): string {
  const parts: string[] = [];
  for (const part of path.split('/')) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** The directories of two branches. */
export function eitherTrails(one: readonly string[], other: readonly string[]): readonly string[] {
  const all = new Set([...one, ...other]);
  if (all.size <= limits.trails) return [...all];
  const short = new Set([...all].map(shortened));
  return [...short]
    .sort((a, b) => Number(b.startsWith('.')) - Number(a.startsWith('.')))
    .slice(0, limits.trails);
}

/** Protected folders are hidden, wherever they are, so a trail is known by its first hidden folder, or else by its last. */
function shortened(trail: string): string {
  const at = trail.search(isHidden);
  if (at < 0) return trail.slice(trail.lastIndexOf('/') + 1);
  return trail.slice(trail.charAt(at) === '/' ? at + 1 : at);
}

const isHidden = /(?:^|\/)\.[^./]/;
