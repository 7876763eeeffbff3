import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { afterAll } from 'vitest';
import { temporaryFolder } from './temporary-folder.ts';

/** The result of `npm pack`. */
export interface Packed {
  /** A temporary folder that contains the tarball, removed after the tests of the file. */
  readonly folder: string;
  readonly tarball: string;
  /** The paths of its files, relative to the package's root. */
  readonly files: readonly string[];
  /** Bytes of the tarball. */
  readonly size: number;
  /** Bytes of its files. */
  readonly unpackedSize: number;
}

/** Packs the built package with `npm pack`, without network access. */
export function pack(): Packed {
  const folder = temporaryFolder();
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [made] = JSON.parse(run('npm', args, { cwd: resolve('.'), home: folder }));
  const { filename, size, unpackedSize, files } = made;
  const paths = files.map(({ path }: { path: string }) => path);
  return { folder, tarball: join(folder, filename), files: paths, size, unpackedSize };
}

/** Unpacks the tarball into `node_modules/nacre` below the folder. */
export function unpackInto(folder: string, { tarball }: Packed): string {
  const place = join(folder, 'node_modules', 'nacre');
  mkdirSync(place, { recursive: true });
  execFileSync('tar', ['-xzf', tarball, '--strip-components=1', '-C', place]);
  return place;
}

/** Runs a program without this machine's user configuration, npm offline, and returns its stdout. */
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
