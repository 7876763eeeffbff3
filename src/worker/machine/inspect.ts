import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Facts, InspectQuery, Place, PlaceProblem, SessionFacts } from '../../contract/facts.ts';

/** Where the worker stands: what relative paths and bare names are relative to. */
export interface Surroundings {
  readonly cwd: string;
  /** The same directory, or that of the persistent shell, as it was looked at before. */
  readonly ownPlace: Place;
  readonly home: string;
  /** The PATH that commands get. */
  readonly path: string;
  /** What the persistent shell that is asked about has become; undefined for one that has run nothing yet. */
  readonly session?: SessionFacts | undefined;
}

/** Looks up what policy has to know: canonical directories and where programs are. Runs nothing. */
export async function inspect(query: InspectQuery, here: Surroundings): Promise<Facts> {
  const [cwd, ...roots] = await Promise.all([
    query.cwd === undefined ? here.ownPlace : toPlace(query.cwd, here.cwd),
    ...query.roots.map((root) => toPlace(root, here.cwd)),
  ]);
  const workspace = await Promise.all((query.workspace ?? []).map((folder) => toPlace(folder, here.cwd)));
  const programs = query.programs.map((name) => [name, findProgram(name, here.path)] as const);
  const existing = query.paths && existingIn(cwd.path ?? here.cwd, query.paths);
  const { home, session } = here;
  return { cwd, roots, workspace, home, programs: Object.fromEntries(programs), existing, session };
}

function existingIn(cwd: string, paths: readonly string[]): readonly string[] {
  return paths.filter((path) => existsSync(resolve(cwd, path)));
}

/** Resolves a directory as it was asked for; says what is wrong with it where it cannot be used. */
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

/** Where a PATH finds an executable file of that name; null when it does not. */
export function findProgram(name: string, path: string): string | null {
  for (const folder of path.split(':')) {
    const candidate = join(folder, name);
    if (folder.startsWith('/') && isExecutableFile(candidate)) return candidate;
  }
  return null;
}

// Most folders of a PATH do not have the file, and an exception for each would cost more than all the looking.
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
