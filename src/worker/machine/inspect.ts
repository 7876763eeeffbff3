import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Facts, InspectQuery, Place, PlaceProblem, SessionFacts } from '../../contract/facts.ts';

/** The directories and the PATH against which `inspect` resolves names. */
export interface InspectContext {
  readonly cwd: string;
  /** `cwd`, or the directory of the persistent shell, already resolved. */
  readonly ownPlace: Place;
  readonly home: string;
  readonly homes?: readonly string[] | undefined;
  readonly ownFiles?: readonly string[] | undefined;
  /** The PATH of commands. */
  readonly path: string;
  /** Whether a folder of the caller's workspace is acceptable under the setting `workspace`. */
  isUsable?(folder: string): boolean;
  /** The state of the persistent shell; undefined if it has not run anything yet. */
  readonly session?: SessionFacts | undefined;
}

/** Resolves the directories and programs of an `InspectQuery` for policy. Runs nothing. */
export async function inspect(query: InspectQuery, context: InspectContext): Promise<Facts> {
  const workspace = await inspectWorkspace(query, context);
  const base = workspace.find(({ path }) => path !== undefined)?.path ?? context.cwd;
  const [cwd, ...roots] = await Promise.all([
    query.cwd === undefined ? context.ownPlace : toPlace(query.cwd, base),
    ...query.roots.map((root) => toPlace(root, context.cwd)),
  ]);
  const programs = query.programs.map((name) => [name, findProgram(name, context.path)] as const);
  const existing = query.paths && existingIn(cwd.path ?? context.cwd, query.paths);
  const { home, homes, ownFiles, session } = context;
  return {
    cwd,
    roots,
    workspace,
    home,
    homes,
    ownFiles,
    programs: Object.fromEntries(programs),
    existing,
    session,
  };
}

async function inspectWorkspace(
  { workspace = [] }: InspectQuery,
  { cwd, isUsable = () => true }: InspectContext,
): Promise<readonly Place[]> {
  const places = await Promise.all(workspace.map((folder) => toPlace(folder, cwd)));
  return places.filter(({ path }) => path === undefined || isUsable(path));
}

function existingIn(cwd: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => existsSync(resolve(cwd, path)));
}

/** Resolves a directory with `realpath`; the result has its `path`, or the `problem` that makes it unusable. */
export async function toPlace(asked: string, base: string): Promise<Place> {
  try {
    const path = await realpath(resolve(base, asked));
    if (!(await stat(path)).isDirectory()) return { asked, problem: 'not_a_directory' };
    await access(path, constants.X_OK);
    return { asked, path };
  } catch (error) {
    return { asked, problem: toProblem(error) };
  }
}

/** Finds an executable file by name on a PATH; null if there is none. */
export function findProgram(name: string, path: string): string | null {
  for (const folder of path.split(':')) {
    const candidate = join(folder, name);
    if (folder.startsWith('/') && isExecutableFile(candidate)) return candidate;
  }
  return null;
}

// Most folders of a PATH do not have the file, and `throwIfNoEntry: false` avoids a costly exception for each.
function isExecutableFile(path: string): boolean {
  try {
    if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function toProblem(error: unknown): PlaceProblem {
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ENOTDIR') return 'not_a_directory';
  return code === 'EACCES' || code === 'EPERM' || code === 'ELOOP' ? 'not_accessible' : 'missing';
}
