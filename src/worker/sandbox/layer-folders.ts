import { resolve } from 'node:path';
import type { Isolation } from '../../contract/isolation.ts';
import { isTooWide } from '../../support/is-too-wide.ts';
import { changesUnavailable } from '../changes/changes-failures.ts';
import { toCanonical } from './own-files.ts';
import { defaultDirectory, isInWorkspace, toWritable, type WorkspaceDeps } from './workspace.ts';

/**
 * The folders whose changes are tracked or held: those that a sandbox leaves writable. Without a sandbox, the folders of the
 * setting `workspace`; without that, the server's directory or, outside of it, that of the command.
 */
export function toLayerFolders(deps: WorkspaceDeps, isolation: Isolation, cwd: string): readonly string[] {
  const { workspace, sandbox } = isolation;
  if (sandbox !== 'off') return toOutermost(toWritable(deps, isolation, cwd));
  const named = workspace.flatMap((name) => toCanonical(resolve(deps.cwd, name)));
  const usual = named.length > 0 ? named : toCanonical(deps.cwd);
  const folders = isInWorkspace(cwd, usual) ? usual : toCanonical(cwd);
  const wide = folders.find((folder) => isTooWide(folder, deps.homes.named));
  if (wide !== undefined)
    throw changesUnavailable(`${wide} is too wide for a workspace; run the command in a folder of a project`);
  return toOutermost(folders);
}

/** The folders of most commands; none if the workspace cannot have layers, an error only for commands that ask for one. */
export function usualLayerFolders(
  deps: WorkspaceDeps & { readonly isolation: Isolation },
): readonly string[] {
  const { cwd, isolation } = deps;
  try {
    return toLayerFolders(deps, isolation, defaultDirectory({ ...isolation, cwd }));
  } catch {
    return [];
  }
}

function toOutermost(folders: readonly string[]): readonly string[] {
  return folders.filter((folder) => !folders.some((other) => folder.startsWith(`${other}/`)));
}
