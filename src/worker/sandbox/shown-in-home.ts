import { lstatSync, readdirSync, readlinkSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { containsPassword } from '../../support/looks-secret.ts';
import { readRegularFile } from '../../support/regular-file.ts';
import { gitSettings, harmlessInHome, libraryFolders, sharedProgramFolders } from './harmless-in-home.ts';
import type { Homes } from './homes.ts';
import { toCanonical } from './own-files.ts';

/** The paths in hidden home directories that a sandbox shows read-only. */
export interface ShownInHome {
  /** The home directories of the server's user; at least an empty folder is visible there. */
  readonly homes: readonly string[];
  /** Canonical files and folders. */
  readonly paths: readonly string[];
  /** Symlinks that lead to some of them, with their targets as they are written. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Paths that the setting `home_show` names; even a folder with keys is visible then. */
  readonly listed: readonly string[];
}

/** Options of `findShown`. */
export interface ShownOptions {
  readonly homes: Homes;
  /** The PATH of commands: programs there must keep working. */
  readonly path: string;
  /** The setting `home_show`. */
  readonly added: readonly string[];
}

/** Finds what a sandbox shows of the home directories. It reads folders, so it is called once for a server. */
export function findShown({ homes, path, added }: ShownOptions): ShownInHome {
  const listed = added.flatMap((name) => homes.own.map((home) => resolve(home, name.replace(/^~\//, ''))));
  const named = [
    ...homes.own.flatMap((home) => harmlessInHome.map((name) => join(home, name))),
    ...homes.own.flatMap((home) => gitSettings.map((name) => join(home, name))).filter(isWithoutSecrets),
    ...sharedProgramFolders,
    ...path.split(':').flatMap((folder) => programFolders(folder, homes)),
    ...listed,
  ];
  const existing = named.filter(isThere);
  const paths = [...new Set(existing.flatMap(toCanonical))].filter((one) => isIn(one, homes.hidden));
  const shown = toOutermost(paths);
  const linked = toOutermost([...shown, ...linkedPrograms(path, shown, homes)]);
  const links = existing.flatMap((one) => linksOn(one, homes)).filter(({ path: at }) => !isIn(at, linked));
  const unique = [...new Map(links.map((link) => [link.path, link])).values()];
  return { homes: homes.own, paths: linked, links: unique, listed: listed.flatMap(toCanonical) };
}

// EACCES: a folder on the PATH may belong to another user, as after `su` or `sudo -u`.
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

// The folder itself and the libraries next to it, but not its parent, which may contain settings: `~/.fly/bin` has the
// token in `~/.fly/config.yml`.
function programFolders(folder: string, { all }: Homes): readonly string[] {
  const isHome = (path: string) => all.some((home) => `${home}/`.startsWith(`${path}/`));
  if (!folder.startsWith('/') || isHome(folder)) return [];
  const isBin = ['bin', 'sbin', 'shims'].includes(basename(folder)) && !isHome(dirname(folder));
  return [folder, ...(isBin ? libraryFolders.map((name) => join(dirname(folder), name)) : [])];
}

const maxPrograms = 2_000;

// A symlink in a folder of programs, such as those of ~/.local/bin, may lead to a folder that is still hidden.
function linkedPrograms(path: string, shown: readonly string[], homes: Homes): readonly string[] {
  const { hidden } = homes;
  const folders = path
    .split(':')
    .flatMap(toCanonical)
    .filter((folder) => isIn(folder, hidden));
  const targets = folders.flatMap(listLinks).filter((one) => isIn(one, hidden) && !isIn(one, shown));
  return targets.flatMap((target) => {
    const [, ...libraries] = programFolders(dirname(target), homes);
    return [target, ...libraries.flatMap(toCanonical)];
  });
}

function listLinks(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .slice(0, maxPrograms)
      .filter((entry) => entry.isSymbolicLink())
      .flatMap(({ name }) => toCanonical(join(folder, name)))
      .filter((target) => statSync(target).isFile());
  } catch {
    return [];
  }
}

// The symlinks on the way to a path, such as `~/.local`, which exist only in a hidden folder.
function linksOn(path: string, { hidden }: Homes): ShownInHome['links'] {
  const parents = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
  return parents.slice(1).flatMap((parent) => {
    const [folder] = toCanonical(dirname(parent));
    if (folder === undefined || !lstatSync(parent).isSymbolicLink()) return [];
    const at = join(folder, basename(parent));
    return isIn(at, hidden) ? [{ path: at, target: readlinkSync(parent) }] : [];
  });
}

// A header with a token, or a URL with a user: `https://TOKEN@github.com/`.
const gitSecret = /extraheader|token|password|:\/\/(?!git@)[^\s/@]+@/i;

const maxConfigBytes = 16_777_216;

function isWithoutSecrets(path: string): boolean {
  try {
    const text = readRegularFile(path, maxConfigBytes);
    return !gitSecret.test(text) && !containsPassword(path, text);
  } catch {
    return false;
  }
}

function isIn(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

function toOutermost(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}
