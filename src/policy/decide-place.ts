import type { CwdNames } from '../contract/decision.ts';
import type { Facts, Place, PlaceProblem } from '../contract/facts.ts';
import { NacreError } from '../contract/failure.ts';

const defaultNames: CwdNames = { field: 'cwd', setting: 'ALLOWED_CWD_ROOTS' };

/**
 * Returns the directory a command runs in, or throws the reason why it may not. A `cwd` that the caller passed must be
 * inside at least one root of every group (the user settings' roots, and the project's), compared as canonical paths.
 * A root that cannot be resolved is a configuration error: until it is fixed, no `cwd` is accepted from callers.
 * The server's own directory, without a `cwd`, is judged only with `judgeDefault`.
 */
export function decideCwd(
  facts: Facts,
  rootGroups: readonly (readonly string[])[],
  {
    given,
    judgeDefault = false,
    names = defaultNames,
  }: { given: boolean; judgeDefault?: boolean | undefined; names?: CwdNames | undefined },
): string {
  const isJudged = given || judgeDefault;
  if (isJudged) checkRoots(facts, names);
  const { cwd } = facts;
  if (cwd.path === undefined) throw cwdInvalid(cwd.asked, cwd.problem, names);
  const groups = isJudged
    ? split(
        facts.roots,
        rootGroups.map((group) => group.length),
      )
    : [];
  for (const roots of groups) {
    if (!roots.some((root) => root.path !== undefined && isWithin(cwd.path, root.path)))
      throw given ? outside(cwd, roots, names) : defaultOutside(cwd, roots, names);
  }
  return cwd.path;
}

/** Returns true if a canonical `path` is `directory` itself or inside it. */
export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
}

function checkRoots({ roots }: Facts, { field, setting }: CwdNames): void {
  const broken = roots.filter((root) => root.path === undefined);
  if (broken.length === 0) return;
  const names = broken
    .map((root) => `${root.asked} (${problemText[root.problem as PlaceProblem]})`)
    .join(', ');
  throw new NacreError('cwd_roots_invalid', `Configuration problem: ${setting} names ${names}.`, {
    hint: `Correct ${setting} and restart the server; until then, omit ${field} to use the server’s own directory.`,
  });
}

function cwdInvalid(asked: string, problem: PlaceProblem, { field }: CwdNames): NacreError {
  return new NacreError(
    'cwd_invalid',
    `Working directory ${problemText[problem]}: ${field} is ${JSON.stringify(asked)}. Nothing was run.`,
    {
      hint: 'Pass an existing directory, absolute or relative to the server’s own.',
    },
  );
}

function outside(cwd: Place, roots: readonly Place[], { field, setting }: CwdNames): NacreError {
  const names = roots.map((root) => root.path).join(', ');
  return new NacreError(
    'cwd_not_allowed',
    `${field} ${JSON.stringify(cwd.asked)} is not allowed: it is not within ${names}.`,
    {
      hint: `Choose a directory within one of them, or change ${setting}.`,
    },
  );
}

function defaultOutside(cwd: Place, roots: readonly Place[], { field }: CwdNames): NacreError {
  const names = roots.map((root) => root.path).join(', ');
  return new NacreError(
    'cwd_not_allowed',
    `The server’s own directory ${JSON.stringify(cwd.asked)} is not allowed here: it is not within ${names}.`,
    { hint: `Pass ${field} with a directory within one of them.` },
  );
}

const problemText: Record<PlaceProblem, string> = {
  missing: 'does not exist',
  not_a_directory: 'is not a directory',
  not_accessible: 'cannot be entered by the server’s user',
};

/**
 * Returns the directory of a call that names none: the first usable folder of the client's workspace; undefined if the
 * server's own is to be used. Throws if the client names folders and none of them can be used.
 */
export function decideDefaultCwd(
  facts: Facts,
  rootGroups: readonly (readonly string[])[],
): string | undefined {
  const { workspace = [] } = facts;
  const [first] = decideWorkspace(facts, rootGroups);
  const [broken] = workspace;
  if (first === undefined && broken?.problem !== undefined && workspace.every((place) => place.problem))
    throw new NacreError(
      'cwd_invalid',
      `The client's root ${JSON.stringify(broken.asked)} ${problemText[broken.problem]}. Nothing was run.`,
      { hint: 'Create it again, change the roots of the client, or pass cwd.' },
    );
  return first;
}

/** Splits a list into groups of the given sizes and drops empty groups. */
export function split<T>(items: readonly T[], sizes: readonly number[]): readonly (readonly T[])[] {
  let start = 0;
  const groups = sizes.map((size) => {
    start += size;
    return items.slice(start - size, start);
  });
  return groups.filter((group) => group.length > 0);
}

/**
 * Returns the client's workspace folders that exist and are inside a root of every group: `ALLOWED_CWD_ROOTS` limits
 * where commands run, so a workspace outside of it must not become writable.
 */
export function decideWorkspace(
  { workspace = [], roots }: Facts,
  rootGroups: readonly (readonly string[])[],
): readonly string[] {
  const groups = split(
    roots,
    rootGroups.map((group) => group.length),
  );
  return workspace.flatMap(({ path }) => {
    const isInside = groups.every((group) =>
      group.some((root) => path !== undefined && root.path !== undefined && isWithin(path, root.path)),
    );
    return path !== undefined && isInside ? [path] : [];
  });
}
