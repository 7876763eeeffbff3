import { type Dirent, lstatSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { Isolation } from '../../contract/isolation.ts';
import type { ProtectedUse } from '../../contract/job.ts';
import { protectedNames } from '../../contract/protected-names.ts';
import { readRegularFile } from '../../support/regular-file.ts';
import { toCanonical } from './own-files.ts';
import { type ProtectedPaths, protectedInGit, unprotectedPaths } from './protected-names.ts';
import { ProtectedWatch } from './watch-protected.ts';

/**
 * Finds the protected paths of a workspace once, before the first command runs there: a command could replace a path that
 * it created by a symlink at the moment when the next sandbox mounts something on it.
 */
export class WorkspaceProtection {
  readonly #except: readonly string[];
  readonly #base: string;
  readonly #found = new Map<string, ProtectedPaths>();
  readonly #watches = new Map<string, ProtectedWatch>();

  /** `except` is the setting `unprotected`; `base` is the server's `cwd`, against which a workspace is resolved. */
  constructor(except: readonly string[], base: string) {
    this.#except = except;
    this.#base = base;
  }

  /** Returns `ProtectedWatch.report` for commands with this isolation; undefined without a sandbox. */
  watch(
    { sandbox, workspace }: Pick<Isolation, 'sandbox' | 'workspace'>,
    cwd: string,
    isMounted: boolean,
  ): ((stderr: string) => ProtectedUse | undefined) | undefined {
    if (sandbox === 'off') return undefined;
    const named = workspace.length > 0 ? workspace : [cwd];
    const key = named.join('\0');
    const known = this.#watches.get(key) ?? this.#createWatch(named, isMounted);
    this.#watches.set(key, known);
    dropOldest(this.#watches);
    return (stderr) => known.report(stderr);
  }

  #createWatch(named: readonly string[], isMounted: boolean): ProtectedWatch {
    const folders = named.flatMap((name) => toCanonical(resolve(this.#base, name)));
    return new ProtectedWatch(this.find(folders), isMounted);
  }

  find(folders: readonly string[]): ProtectedPaths {
    if (folders.length === 0 || this.#except.includes('*')) return unprotectedPaths;
    const all = folders.map((folder) => this.#findIn(folder));
    return {
      readOnly: unique(all.flatMap(({ readOnly }) => readOnly)),
      fixed: unique(all.flatMap(({ fixed }) => fixed)),
      missing: unique(all.flatMap(({ missing }) => missing)),
    };
  }

  #findIn(folder: string): ProtectedPaths {
    const found = this.#found.get(folder) ?? findProtected(folder, this.#except);
    this.#found.set(folder, found);
    dropOldest(this.#found);
    return found;
  }
}

const maxWorkspaces = 1_000;

function dropOldest(map: Map<string, unknown>): void {
  const [oldest] = map.keys();
  if (map.size > maxWorkspaces && oldest !== undefined) map.delete(oldest);
}

function findProtected(folder: string, except: readonly string[]): ProtectedPaths {
  const projects = [folder, ...findRepositories(folder)];
  const isExcepted = (project: string, path: string) =>
    except.some((name) => `${relative(project, path)}/`.startsWith(`${name.replace(/\/$/, '')}/`));
  const parts = projects.flatMap((project) => {
    const { readOnly, fixed, missing } = inProject(project);
    const keep = (paths: readonly string[]) => paths.filter((path) => !isExcepted(project, path));
    return { readOnly: keep(readOnly), fixed: [...above(folder, project), ...fixed], missing: keep(missing) };
  });
  return {
    readOnly: parts.flatMap(({ readOnly }) => readOnly),
    // A mount hides the mounts below it, so outer folders come first.
    fixed: unique(parts.flatMap(({ fixed }) => fixed)).toSorted(
      (one, other) => depthOf(one) - depthOf(other),
    ),
    missing: parts.slice(0, maxWatched).flatMap(({ missing }) => missing),
  };
}

/** The number of projects in which every command checks for new protected paths. */
const maxWatched = 20;

/**
 * The folders from a workspace down to a project in it. One of them that is not a mount could be renamed, with the project and
 * its mounts, and another project with other hooks could be put in its place.
 */
function above(workspace: string, project: string): readonly string[] {
  const parts = relative(workspace, project)
    .split('/')
    .filter((part) => part !== '');
  return parts.map((_part, index) => join(workspace, ...parts.slice(0, index + 1)));
}

function depthOf(path: string): number {
  return path.split('/').length;
}

function inProject(project: string): ProtectedPaths {
  const named = groupByKind(protectedNames.map((name) => join(project, name)));
  const git = join(project, '.git');
  const kind = kindOf(git);
  // In a worktree or submodule, it is a file that names the folder of git.
  if (kind === 'file') return { ...named, readOnly: [...named.readOnly, git] };
  if (kind !== 'folder') return { ...named, missing: [...named.missing, git] };
  const repository = inGitFolder(git);
  return {
    readOnly: [...named.readOnly, ...repository.readOnly, ...hooksPath(project, git)],
    fixed: repository.fixed,
    missing: [...named.missing, ...repository.missing],
  };
}

// Each mount adds to the time that a sandbox takes to start, so a folder with more entries is read-only as a whole.
const maxEntries = 8;

function inGitFolder(git: string): ProtectedPaths {
  const own = groupByKind(protectedInGit.map((name) => join(git, name)));
  const inner = ['modules', 'worktrees'].map((name) => {
    const folder = join(git, name);
    const entries = findGitFolders(folder);
    if (entries.length > maxEntries) return { readOnly: [folder], fixed: [], missing: [] };
    const found = entries.map((entry) => groupByKind(protectedInGit.map((part) => join(entry, part))));
    return { readOnly: found.flatMap(({ readOnly }) => readOnly), fixed: entries, missing: [] };
  });
  return {
    readOnly: [...own.readOnly, ...inner.flatMap(({ readOnly }) => readOnly)],
    fixed: [git, ...inner.flatMap(({ fixed }) => fixed)],
    missing: own.missing,
  };
}

// The name of a submodule may contain slashes, and submodules may have submodules.
function findGitFolders(folder: string, depth = 4): readonly string[] {
  const entries = list(folder).filter((entry) => entry.isDirectory());
  return entries.flatMap(({ name }) => {
    const path = join(folder, name);
    if (kindOf(join(path, 'HEAD')) === 'file')
      return [path, ...findGitFolders(join(path, 'modules'), depth - 1)];
    return depth > 0 ? findGitFolders(path, depth - 1) : [];
  });
}

const maxConfigBytes = 16_777_216;

function hooksPath(project: string, git: string): readonly string[] {
  try {
    const [, value] =
      /^[ \t]*hookspath[ \t]*=[ \t]*(\S.*)$/im.exec(readRegularFile(join(git, 'config'), maxConfigBytes)) ??
      [];
    if (value === undefined) return [];
    const path = resolve(project, value.trim().replace(/^"|"$/g, ''));
    return path.startsWith(`${project}/`) && kindOf(path) !== undefined ? [path] : [];
  } catch {
    return [];
  }
}

const maxDepth = 8;
const maxFolders = 2_000;
const skipped = new Set(['node_modules', 'target', 'dist', 'build', 'vendor', 'venv', '__pycache__']);

// Breadth first, so that the limit leaves out the deepest folders.
function findRepositories(folder: string): readonly string[] {
  const found: string[] = [];
  let level = [folder];
  let listed = 0;
  for (let depth = 0; depth < maxDepth && listed < maxFolders; depth += 1) {
    const next: string[] = [];
    for (const parent of level.slice(0, maxFolders - listed)) {
      listed += 1;
      const entries = list(parent);
      if (parent !== folder && entries.some(({ name }) => name === '.git')) found.push(parent);
      for (const entry of entries)
        if (entry.isDirectory() && !entry.name.startsWith('.') && !skipped.has(entry.name))
          next.push(join(parent, entry.name));
    }
    level = next;
  }
  for (const parent of level.slice(0, Math.max(0, maxFolders - listed)))
    if (kindOf(join(parent, '.git')) !== undefined) found.push(parent);
  return found;
}

function groupByKind(paths: readonly string[]): ProtectedPaths {
  const kinds = paths.map((path) => ({ path, kind: kindOf(path) }));
  return {
    readOnly: kinds.filter(({ kind }) => kind === 'file' || kind === 'folder').map(({ path }) => path),
    fixed: [],
    missing: kinds.filter(({ kind }) => kind === undefined).map(({ path }) => path),
  };
}

// Nothing can be mounted on a symlink, which a command can replace.
function kindOf(path: string): 'file' | 'folder' | 'other' | undefined {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) return undefined;
    return found.isDirectory() ? 'folder' : found.isFile() ? 'file' : 'other';
  } catch {
    return 'other';
  }
}

function list(folder: string): readonly Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function unique(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)];
}
