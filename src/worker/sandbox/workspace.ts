import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import { type Isolation, type RequestedIsolation, sandboxNames } from '../../contract/isolation.ts';
import { isTooWide } from '../../support/is-too-wide.ts';
import { overlapsUserConfig } from '../../support/overlaps-user-config.ts';
import { type Homes, homesAround, keyStoresIn } from './homes.ts';
import { type OwnFiles, toCanonical } from './own-files.ts';
import { isInProtected } from './protected-names.ts';

/** The dependencies of `toWritable`. */
export interface WorkspaceDeps {
  /** The server's `cwd`, against which a relative workspace is resolved. */
  readonly cwd: string;
  readonly homes: Homes;
  readonly ownFiles: Pick<OwnFiles, 'find'>;
}

/** The isolation of one command: that of the settings, or a stricter `sandbox` of the call; throws for a looser one. */
export function tightenIsolation(settings: Isolation, requested: RequestedIsolation = {}): Isolation {
  const { sandbox = settings.sandbox, workspace = [], confined = false } = requested;
  if (sandboxNames.indexOf(sandbox) < sandboxNames.indexOf(settings.sandbox)) {
    throw new NacreError(
      'invalid_request',
      `sandbox ${sandbox} is looser than ${settings.sandbox}, which the settings require. Nothing was run.`,
      { hint: `Omit sandbox, or request ${sandboxNames.at(-1)}.` },
    );
  }
  const named = { workspace: settings.workspace.length > 0 ? settings.workspace : workspace };
  if (confined && sandbox === 'off') return { ...settings, ...named, sandbox: 'workspace', network: 'on' };
  return { ...settings, ...named, sandbox };
}

/**
 * The directories of `workspace`, or `cwd`, that stay writable in a sandbox; throws if one is not acceptable, or if `cwd`
 * is in none of them: a sandbox might not show it, or discard what is written there.
 */
export function toWritable(
  deps: WorkspaceDeps,
  { workspace, sandbox }: Isolation,
  cwd: string,
): readonly string[] {
  if (sandbox === 'off') return [];
  const named = workspace.length > 0 ? workspace : [cwd];
  const folders = named.map((name) => {
    const [folder] = toCanonical(resolve(deps.cwd, name));
    if (folder === undefined) throw workspaceRefused(sandbox, name, 'does not exist');
    const reason = whyNot(folder, deps) ?? (workspace.length > 0 ? undefined : whyNotByDefault(folder, deps));
    if (reason !== undefined) throw workspaceRefused(sandbox, folder, reason);
    return folder;
  });
  if (workspace.length > 0 && !isInWorkspace(cwd, folders)) throw cwdOutside(cwd, folders);
  return folders;
}

/** Whether a directory is in one of these canonical folders. */
export function isInWorkspace(directory: string, folders: readonly string[]): boolean {
  return toCanonical(directory).some((path) =>
    folders.some((folder) => `${path}/`.startsWith(folder === '/' ? '/' : `${folder}/`)),
  );
}

type WorkspaceSettings = Pick<Isolation, 'sandbox' | 'workspace'> & {
  /** The server's `cwd`. */
  readonly cwd: string;
};

/** The folders of the setting `workspace` that exist, if a sandbox leaves only these writable. */
export function findWorkspace({ cwd, sandbox, workspace }: WorkspaceSettings): readonly string[] {
  return sandbox === 'off' ? [] : workspace.flatMap((name) => toCanonical(resolve(cwd, name)));
}

/** The directory of commands that name none: the server's own, or the first of the setting `workspace` if it is in none. */
export function defaultDirectory(settings: WorkspaceSettings): string {
  const folders = findWorkspace(settings);
  const [first = settings.cwd] = folders;
  return isInWorkspace(settings.cwd, folders) ? settings.cwd : first;
}

/**
 * Devices and inodes, which differ if a folder was replaced by another one of the same name: existing mounts and rules
 * still apply to the old folder.
 */
export function identifyFolders(folders: readonly string[]): string {
  return folders
    .map((folder) => statSync(folder, { throwIfNoEntry: false }))
    .map((found) => `${found?.dev}:${found?.ino}`)
    .join(' ');
}

function whyNot(folder: string, { homes, ownFiles }: WorkspaceDeps): string | undefined {
  const isIn = (places: readonly string[]) => places.some((place) => `${folder}/`.startsWith(`${place}/`));
  if (homes.all.some((home) => isTooWide(folder, home))) return 'is too wide for a workspace';
  if (isIn(homesAround(folder, homes).flatMap(keyStoresIn))) return 'contains keys';
  return isIn(ownFiles.find()) ? "is one of nacre's own folders" : undefined;
}

// A settings folder is accepted if `workspace` names it, but not just because a call runs there.
function whyNotByDefault(folder: string, { homes }: WorkspaceDeps): string | undefined {
  if (isInProtected(folder)) return 'contains settings of programs outside of it';
  const contains = homesAround(folder, homes).some((home) => overlapsUserConfig(folder, home));
  return contains ? 'contains settings of programs outside of it' : undefined;
}

function workspaceRefused(sandbox: string, folder: string, reason: string): NacreError {
  return new NacreError(
    'isolation_unavailable',
    `The sandbox ${sandbox} would leave ${folder} writable, which ${reason}.`,
    {
      hint: 'Set cwd to a project folder. On the machine of the server, the setting workspace can also name the writable folders.',
    },
  );
}

function cwdOutside(cwd: string, folders: readonly string[]): NacreError {
  return new NacreError(
    'cwd_invalid',
    `The working directory ${cwd} is not in the workspace of the sandbox. Nothing was run.`,
    { hint: `Pass a cwd in ${folders.join(' or ')}. The user can change the setting workspace.` },
  );
}
