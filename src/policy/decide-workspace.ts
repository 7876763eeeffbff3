import type { Facts } from '../contract/facts.ts';
import { isWithin, split } from './decide-cwd.ts';

/**
 * The folders that a client offers as its workspace, as far as they exist and lie in a root of every group: whoever
 * limits where commands may run does not mean to open more for writing.
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
