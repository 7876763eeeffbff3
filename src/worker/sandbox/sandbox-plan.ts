import { statSync } from 'node:fs';
import type { Enforcement, Isolation } from '../../contract/isolation.ts';
import type { Layer } from '../changes/layer.ts';
import { bridgeProgram } from '../network/bridge.ts';
import { findCommonGitFolder } from './git-folder.ts';
import { ownKeyStores } from './homes.ts';
import { findHostSockets } from './host-sockets.ts';
import { type Mount, maskFile, mountReadOnly, mountWritable } from './mount.ts';
import type { ProtectedPaths } from './protected-names.ts';
import type { WorkspaceProtection } from './protected-paths.ts';
import type { ShownInHome } from './shown-in-home.ts';
import { toWritable, type WorkspaceDeps } from './workspace.ts';

/** A sandbox as data: the paths that it shows, hides and leaves writable. All paths are canonical. */
export interface SandboxPlan {
  readonly isolation: Isolation;
  /** Directories that stay writable, checked by `toWritable`. */
  readonly writable: readonly string[];
  /** The home directories, which are hidden. */
  readonly homes: readonly string[];
  /** The parts of them that are visible nevertheless. */
  readonly shown: ShownInHome;
  /** nacre's own files, from `OwnFiles.find`; hidden even without a sandbox. */
  readonly ownFiles: readonly string[];
  /** Existing files and folders with keys, such as `~/.ssh`, hidden even in a visible folder. */
  readonly keyStores: readonly string[];
  /** Paths in `writable` that are read-only. */
  readonly protected: ProtectedPaths;
  readonly isRoot: boolean;
  readonly extraMounts: readonly Mount[];
  /** The layer over its workspace, if its changes are tracked or held. */
  readonly layer?: Layer | undefined;
  /** The parts from its room; if absent, it has an empty /tmp and its own network namespace. */
  readonly shared?: SharedPlan | undefined;
  /** Lists the Unix sockets that a command without network must not reach (`findHostSockets`); they come and go. */
  sockets(): readonly string[];
  /** Paths that the `ExecGuard` needs visible and read-only, even inside writable or hidden folders. */
  readonly pinned?: readonly string[] | undefined;
}

/** The part of a sandbox that comes from its `Room`. */
export interface SharedPlan {
  /** The folder that is mounted at /tmp; undefined if the command gets an empty one. */
  readonly tmp: string | undefined;
  /** The folder that is mounted at /dev/shm. */
  readonly sharedMemory: string;
  /** Names in /tmp that get a mount in every sandbox of the room (`Room.addMountPoints`). */
  readonly mountPoints: readonly string[];
  /** True if the command runs in the room's network namespace. */
  readonly isJoined: boolean;
  /** The command line that enters it (`RoomNetwork.enter`); empty if it is not shared, or if the parent process is in it. */
  readonly enter: readonly string[];
}

/** The dependencies of `toSandboxPlan`. */
export interface SandboxDeps extends WorkspaceDeps {
  readonly shown: ShownInHome;
  readonly protection: WorkspaceProtection;
  readonly isRoot: boolean;
}

/** Makes the sandbox plan of one command; throws if `toWritable` refuses its workspace or directory. */
export function toSandboxPlan(deps: SandboxDeps, isolation: Isolation, cwd: string): SandboxPlan {
  const { homes, shown } = deps;
  const network = toNetwork(isolation);
  const isListed = (path: string) => shown.listed.includes(path);
  const writable = toWritable(deps, isolation, cwd);
  return {
    isolation,
    writable,
    protected: deps.protection.find(writable),
    homes: homes.hidden,
    shown: toShown(shown, isolation, writable),
    keyStores: ownKeyStores(homes).filter((path) => !isListed(path)),
    isRoot: deps.isRoot,
    extraMounts: [],
    sockets: network === 'on' ? () => [] : findHostSockets,
    ownFiles: deps.ownFiles.find(),
  };
}

// A worktree needs the repository that it belongs to.
function toShown(shown: ShownInHome, { sandbox }: Isolation, writable: readonly string[]): ShownInHome {
  const needed = writable.flatMap(findCommonGitFolder);
  if (sandbox === 'strict') return { homes: shown.homes, paths: needed, links: [], listed: [] };
  return needed.length === 0 ? shown : { ...shown, paths: [...shown.paths, ...needed] };
}

/**
 * Adds folders that the command may see. They are read-only: nacre opens files there by name, and a symlink that a
 * command puts in their place would lead it out of the sandbox. A FIFO on a read-only mount can still be written.
 */
export function withVisibleFolders(plan: SandboxPlan, folders: readonly string[]): SandboxPlan {
  return { ...plan, extraMounts: [...plan.extraMounts, ...folders.map(mountReadOnly)] };
}

/** Names in /tmp on or below which the plan has mounts. */
export function namesInTmp({ writable, extraMounts, pinned = [] }: SandboxPlan): readonly string[] {
  const targets = [...writable, ...extraMounts.map(({ to }) => to), ...pinned];
  return [...new Set(targets.flatMap(nameInTmp))];
}

/** The name in /tmp on or below which a path is, as a list that is empty for another path. */
export function nameInTmp(path: string): readonly string[] {
  const [, name] = /^\/tmp\/([^/]+)/.exec(path) ?? [];
  return name === undefined ? [] : [name];
}

/** True if the sandbox has a network namespace that no other command can join. */
export function hasOwnNetwork({ isolation, shared }: SandboxPlan): boolean {
  return toNetwork(isolation) !== 'on' && !shared?.isJoined;
}

/** The network access of a command; with `sandbox: strict` the setting `network: on` has no effect. */
export function toNetwork({ sandbox, network, networkAllow }: Isolation): Enforcement['network'] {
  if (sandbox === 'off' || (sandbox === 'workspace' && network === 'on')) return 'on';
  return networkAllow.length > 0 ? 'filtered' : 'off';
}

/** The mounts of a sandbox in order; calls `plan.sockets` and checks with `statSync` which hidden paths are files. */
export function toMounts(plan: SandboxPlan): readonly Mount[] {
  const { pinned = [] } = plan;
  const root = plan.isolation.sandbox === 'off' ? withoutSandbox(plan) : inSandbox(plan);
  const isBridged = toNetwork(plan.isolation) === 'filtered' && hasOwnNetwork(plan);
  const extraMounts = isBridged ? [...plan.extraMounts, mountBridge] : plan.extraMounts;
  return [...root, ...extraMounts, ...pinned.map(mountReadOnly), ...toSeals(plan), ...toProcMounts(plan)];
}

// Files of /proc that change the machine. Their mode bits let uid 0 write to them, even without any capability; bubblewrap
// itself protects only those whose folder is writable, which /proc/sys is not.
const machineControls = ['sys', 'sysrq-trigger', 'mtrr', 'fs', 'acpi', 'scsi', 'driver', 'irq', 'bus'];

function toProcMounts({ isolation, isRoot }: SandboxPlan): readonly Mount[] {
  const proc: Mount = { kind: 'proc', to: '/proc' };
  if (isolation.sandbox === 'off' || !isRoot) return [proc];
  return [proc, ...machineControls.map((name) => ({ ...mountReadOnly(`/proc/${name}`), optional: true }))];
}

const mountBridge: Mount = { kind: 'bind', ...bridgeProgram, readOnly: true };

function withoutSandbox({ ownFiles }: SandboxPlan): readonly Mount[] {
  return [{ kind: 'bind', from: '/', to: '/', readOnly: false, devices: true }, ...ownFiles.map(hide)];
}

// Mounts `/` read-only, then the hidden paths, then the visible paths in them, of which `writable` may be a part.
function inSandbox(plan: SandboxPlan): readonly Mount[] {
  const { homes, shown, keyStores, ownFiles, writable } = plan;
  const replaced = ['/dev', '/tmp', '/run'];
  const visible = [...writable, ...shown.paths];
  const hiddenHomes = homes.filter((path) => !isCovered(path, replaced, writable));
  const keys = keyStores.filter((path) => !isCovered(path, [...hiddenHomes, ...replaced], visible));
  const hidden = [...hiddenHomes, ...keys];
  return [
    mountReadOnly('/'),
    { kind: 'dev', to: '/dev' },
    ...toTemporaryMounts(plan),
    // Other programs have their sockets in /run; a read-only mount does not prevent connecting to them.
    { kind: 'tmpfs', to: '/run' },
    { ...mountReadOnly('/run/systemd/resolve'), optional: true },
    ...hiddenHomes.map((to) => ({ kind: 'tmpfs', to }) as const),
    ...toShownMounts(plan, hiddenHomes),
    ...writable.map(mountWritable),
    // A folder that is a mount cannot be renamed, nor can a file.
    ...plan.protected.fixed.map((path) => ({ ...mountWritable(path), optional: true })),
    ...plan.protected.readOnly.map((path) => ({ ...mountReadOnly(path), optional: true })),
    ...keys.map(hide),
    ...ownFiles.filter((path) => !isCovered(path, [...hidden, ...replaced], visible)).map(hide),
    ...plan
      .sockets()
      .filter((path) => !isCovered(path, [...hidden, ...ownFiles], visible))
      .map(maskFile),
  ];
}

// A path that has vanished since it was found is left out.
function toShownMounts({ shown, writable }: SandboxPlan, homes: readonly string[]): readonly Mount[] {
  const isHidden = (path: string) =>
    inside([path], homes).length > 0 && inside([path], writable).length === 0;
  return [
    ...shown.homes.filter(isHidden).map((to) => ({ kind: 'dir', to }) as const),
    ...shown.paths.filter(isHidden).map((path) => ({ ...mountReadOnly(path), optional: true })),
    ...shown.links
      .filter(({ path }) => isHidden(path))
      .map(({ path, target }) => ({ kind: 'symlink', target, to: path }) as const),
  ];
}

// Files written here would be lost, so writes must fail.
function toSeals({ isolation, homes, shared, writable }: SandboxPlan): readonly Mount[] {
  if (isolation.sandbox === 'off') return [];
  const names = (shared?.tmp === undefined ? [] : shared.mountPoints).map((name) => `/tmp/${name}`);
  const above = names.filter((path) => !writable.includes(path) && inside(writable, [path]).length > 0);
  const covered = homes.filter((path) => !isCovered(path, ['/tmp', '/run'], writable));
  return [...covered, ...above, '/dev'].map((to) => ({ kind: 'seal', to }));
}

// Other programs have their sockets in /tmp, too.
function toTemporaryMounts({ shared, writable }: SandboxPlan): readonly Mount[] {
  const [tmp, sharedMemory] = ['/tmp', '/dev/shm'];
  if (shared?.tmp === undefined)
    return [tmp, sharedMemory].map((to) => ({ kind: 'tmpfs', to, writable: true }));
  const mountPoints = shared.mountPoints.map((name) => `${tmp}/${name}`);
  return [
    { ...mountWritable(shared.tmp), to: tmp },
    { ...mountWritable(shared.sharedMemory), to: sharedMemory },
    ...mountPoints.filter((path) => !writable.includes(path)).map((to) => ({ kind: 'tmpfs', to }) as const),
  ];
}

function hide(path: string): Mount {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  return isFile ? maskFile(path) : { kind: 'tmpfs', to: path };
}

// A path in a hidden folder is hidden with it, unless that part is visible again.
function isCovered(path: string, hidden: readonly string[], visible: readonly string[]): boolean {
  return inside([path], hidden).length > 0 && inside([path], visible).length === 0;
}

function inside(paths: readonly string[], folders: readonly string[]): readonly string[] {
  return paths.filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)));
}
