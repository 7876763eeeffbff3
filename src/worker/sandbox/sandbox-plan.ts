import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import type { Isolation } from '../../contract/isolation.ts';
import { bridgeMounts } from '../network/bridge.ts';
import type { SandboxPlan } from './bubblewrap.ts';
import { findHostSockets } from './host-sockets.ts';
import { toNetwork } from './to-network.ts';

/** What a plan is drawn from. */
export interface SandboxMeans {
  readonly home: string;
  readonly ownFiles: readonly string[];
  readonly isRoot: boolean;
}

const keyFolders = [
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.docker',
  '.config/gcloud',
  '.config/gh',
  '.password-store',
];
const systemFolders = new Set(
  'bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys tmp usr var'
    .split(' ')
    .map((name) => `/${name}`),
);
const neverBelow = ['/boot', '/dev', '/etc', '/proc', '/sys', '/usr', '/run'];

/** Draws the plan of one command's sandbox; a workspace that would open the machine is refused. */
export function toSandboxPlan(means: SandboxMeans, isolation: Isolation, cwd: string): SandboxPlan {
  const { home, isRoot } = means;
  const writable = toWritable(isolation, cwd, home);
  const keyStores = keyFolders.map((folder) => join(home, folder)).filter((path) => existsSync(path));
  const network = toNetwork(isolation);
  return {
    isolation,
    writable,
    home,
    keyStores,
    isRoot,
    mounts: network === 'filtered' ? bridgeMounts : [],
    sockets: network === 'on' ? () => [] : findHostSockets,
    ownFiles: toOutermost(means.ownFiles.flatMap(toCanonical)),
  };
}

// What covers a path has to stand at its own place, not at that of a link to it.
function toCanonical(path: string): readonly string[] {
  try {
    return [realpathSync(path)];
  } catch {
    return [];
  }
}

// Hiding a folder hides what lies in it; to hide that again would show its name.
function toOutermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}

/** The directories that stay writable in a sandbox. */
export function toWritable({ workspace, sandbox }: Isolation, cwd: string, home: string): readonly string[] {
  if (sandbox === 'off') return [];
  const folders = workspace.length > 0 ? workspace : [cwd];
  const tooWide = folders.find((folder) => isTooWide(folder, home));
  if (tooWide === undefined) return folders;
  throw new NacreError(
    'isolation_unavailable',
    `The sandbox ${sandbox} would leave ${tooWide} writable, which is not a workspace but the machine itself.`,
    { hint: 'Run it in a project folder, or set workspace to the folders that may be written.' },
  );
}

function isTooWide(folder: string, home: string): boolean {
  const isAbove = home === folder || home.startsWith(folder === '/' ? '/' : `${folder}/`);
  return isAbove || systemFolders.has(folder) || neverBelow.some((place) => folder.startsWith(`${place}/`));
}
