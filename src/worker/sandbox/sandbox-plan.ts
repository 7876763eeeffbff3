import { join, resolve } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import type { Isolation } from '../../contract/isolation.ts';
import { holdsSettings } from '../../support/holds-settings.ts';
import { isTooWide } from '../../support/is-too-wide.ts';
import { keyFiles, keyFolders } from '../../support/key-stores.ts';
import { bridgeMounts } from '../network/bridge.ts';
import type { SandboxPlan } from './bubblewrap.ts';
import { findHostSockets } from './host-sockets.ts';
import { type OwnFiles, toCanonical } from './own-files.ts';
import { toNetwork } from './to-network.ts';

/** What a plan is drawn from. */
export interface SandboxMeans {
  /** The server's own directory, which a relative workspace starts from. */
  readonly cwd: string;
  readonly home: string;
  readonly ownFiles: Pick<OwnFiles, 'find'>;
  readonly isRoot: boolean;
}

const keyStores = [...keyFolders, ...keyFiles];

/** Draws the plan of one command's sandbox; a workspace that would open the machine is refused. */
export function toSandboxPlan(means: SandboxMeans, isolation: Isolation, cwd: string): SandboxPlan {
  const network = toNetwork(isolation);
  return {
    isolation,
    writable: toWritable(means, isolation, cwd),
    home: toCanonical(means.home),
    keyStores: findKeyStores(means.home),
    isRoot: means.isRoot,
    mounts: network === 'filtered' ? bridgeMounts : [],
    sockets: network === 'on' ? () => [] : findHostSockets,
    ownFiles: means.ownFiles.find(),
  };
}

// What covers a path has to stand at its own place, not at that of a link to it.
function findKeyStores(home: string): readonly string[] {
  return keyStores.flatMap((name) => toCanonical(join(home, name)));
}

/** The directories that stay writable in a sandbox. */
export function toWritable(
  means: SandboxMeans,
  { workspace, sandbox }: Isolation,
  cwd: string,
): readonly string[] {
  if (sandbox === 'off') return [];
  const named = workspace.length > 0 ? workspace : [cwd];
  return named.map((name) => {
    const [folder] = toCanonical(resolve(means.cwd, name));
    if (folder === undefined) throw noWorkspace(sandbox, name, 'does not exist');
    const reason = whyNot(folder, means) ?? (workspace.length > 0 ? undefined : whyNotUnnamed(folder, means));
    if (reason !== undefined) throw noWorkspace(sandbox, folder, reason);
    return folder;
  });
}

function whyNot(folder: string, { home, ownFiles }: SandboxMeans): string | undefined {
  const isIn = (places: readonly string[]) => places.some((place) => `${folder}/`.startsWith(`${place}/`));
  if ([home, ...toCanonical(home)].some((one) => isTooWide(folder, one)))
    return 'is not a workspace but the machine itself';
  if (isIn(findKeyStores(home))) return 'holds keys';
  return isIn(ownFiles.find()) ? "is one of nacre's own folders" : undefined;
}

// Whoever names such a folder in the settings means it; a call that happens to run there, or wants to, does not decide that.
function whyNotUnnamed(folder: string, { home }: SandboxMeans): string | undefined {
  const holds = [home, ...toCanonical(home)].some((one) => holdsSettings(folder, one));
  return holds ? 'holds settings of programs outside of it' : undefined;
}

function noWorkspace(sandbox: string, folder: string, reason: string): NacreError {
  return new NacreError(
    'isolation_unavailable',
    `The sandbox ${sandbox} would leave ${folder} writable, which ${reason}.`,
    { hint: 'Run it in a project folder, or set workspace to the folders that may be written.' },
  );
}
