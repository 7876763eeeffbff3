import type { Facts } from '../contract/facts.ts';
import { isWithin, split } from './decide-cwd.ts';

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
