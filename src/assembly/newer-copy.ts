import { readFileSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import type { Program } from '../doors/door.ts';

/** Describes a newer nacre that is installed elsewhere, found by reading `package.json` files only. */
export function describeNewerCopy(
  version: string,
  { node, script }: Program,
  path: string,
): string | undefined {
  const own = packageOf(script)?.folder;
  const others = candidates(node, path)
    .flatMap((file) => packageOf(file) ?? [])
    .filter((one) => one.folder !== own && isNewer(one.version, version));
  const newest = others.reduce<Found | undefined>(
    (best, one) => (best === undefined || isNewer(one.version, best.version) ? one : best),
    undefined,
  );
  if (newest === undefined) return undefined;
  return `nacre ${newest.version} is installed in ${newest.folder}, but this is ${version} in ${own ?? script}. To use the newer one, run its nacre init for each client, or uninstall this one.`;
}

/** Whether `version` is later than `than`; a suffix such as -beta makes a version earlier. */
export function isNewer(version: string, than: string): boolean {
  const [one, other] = [toParts(version), toParts(than)];
  for (const [index, part] of one.numbers.entries()) {
    const difference = part - (other.numbers[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  if (one.suffix === '' || other.suffix === '') return one.suffix === '' && other.suffix !== '';
  return one.suffix.localeCompare(other.suffix, 'en', { numeric: true }) > 0;
}

interface Found {
  readonly folder: string;
  readonly version: string;
}

function candidates(node: string, path: string): readonly string[] {
  const onPath = path
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, 'nacre'));
  return [...onPath, join(dirname(dirname(node)), 'lib', 'node_modules', 'nacre', 'dist', 'cli.js')];
}

function packageOf(file: string): Found | undefined {
  try {
    const folder = dirname(dirname(realpathSync(file)));
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return name === 'nacre' && /^\d+\.\d+\.\d+/.test(String(version)) ? { folder, version } : undefined;
  } catch {
    return undefined;
  }
}

function toParts(version: string): { numbers: readonly number[]; suffix: string } {
  const [core = '', ...suffix] = version.replace(/\+.*$/, '').split('-');
  return { numbers: core.split('.').map(Number), suffix: suffix.join('-') };
}
