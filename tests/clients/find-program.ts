import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Installed {
  readonly packages: readonly string[];
  readonly program: string;
}

const all: Readonly<Record<string, Installed>> = JSON.parse(
  readFileSync(fileURLToPath(new URL('packages.json', import.meta.url)), 'utf8'),
);
const { NACRE_TEST_CLIENTS: cache = '' } = process.env;
const platform = `${process.platform}-${process.arch}`;
const triples: Readonly<Record<string, string>> = {
  'linux-x64': 'x86_64-unknown-linux-musl',
  'linux-arm64': 'aarch64-unknown-linux-musl',
};

/** The words that start a client; undefined if it has no program for this platform. */
export function findProgram(name: string): readonly string[] | undefined {
  const folder = join(cache, name, 'node_modules');
  const file = (all[name]?.program ?? '')
    .replace('PLATFORM', platform)
    .replace('TRIPLE', triples[platform] ?? '');
  const program = join(folder, file);
  if (cache === '' || !existsSync(program)) return undefined;
  if (!program.endsWith('.js')) return [program];
  const own = join(folder, `node-${platform}`, 'bin', 'node');
  return [existsSync(own) ? own : process.execPath, program];
}

/** The version of a client that is installed. */
export function pinnedVersion(name: string): string {
  return all[name]?.packages[0]?.replace(/^.+@/, '') ?? '';
}
