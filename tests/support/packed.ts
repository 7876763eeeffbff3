import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

/** What `npm pack` made. */
export interface Packed {
  /** A fresh folder beside the tarball, removed after the tests of the file. */
  readonly folder: string;
  readonly tarball: string;
  /** The paths of its files, from the package's root. */
  readonly files: readonly string[];
  /** Bytes of the tarball, and of what it holds. */
  readonly size: number;
  readonly unpackedSize: number;
}

/** Packs the built package, without a network. */
export function pack(): Packed {
  const folder = temporaryFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [made] = JSON.parse(run('npm', args, { cwd: resolve('.'), home: folder }));
  const { filename, size, unpackedSize, files } = made;
  const paths = files.map(({ path }: { path: string }) => path);
  return { folder, tarball: join(folder, filename), files: paths, size, unpackedSize };
}

/** Unpacks it where a program in the folder imports it from. */
export function unpackInto(folder: string, { tarball }: Packed): string {
  const place = join(folder, 'node_modules', 'nacre');
  mkdirSync(place, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', place]);
  return place;
}

/** What a program prints that knows nothing of this machine's user; npm is kept off the network. */
export function run(
  program: string,
  args: readonly string[],
  { cwd, home, env = {} }: { cwd: string; home: string; env?: Readonly<Record<string, string>> },
): string {
  const own = {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    NACRE_LOGIN_ENV: 'never',
    npm_config_cache: join(home, 'npm-cache'),
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  };
  return execFileSync(program, args, { cwd, env: { ...own, ...env }, encoding: 'utf8', stdio: 'pipe' });
}
