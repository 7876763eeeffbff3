import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import {
  type Enforcement,
  type Isolation,
  type RequestedIsolation,
  sandboxNames,
} from '../../contract/isolation.ts';
import { credentialFiles, credentialFolders } from '../../support/credential-paths.ts';
import { isTooWide } from '../../support/is-too-wide.ts';
import { overlapsUserConfig } from '../../support/overlaps-user-config.ts';
import { bridgeProgram } from '../network/bridge.ts';
import { findHostSockets } from './host-sockets.ts';
import { type Mount, maskFile, mountReadOnly, mountWritable } from './mount.ts';
import { type OwnFiles, toCanonical } from './own-files.ts';

/** A sandbox as data: the paths that it shows, hides and leaves writable. All paths are canonical. */
export interface SandboxPlan {
  readonly isolation: Isolation;
  /** Directories that stay writable, checked by `toWritable`. */
  readonly writable: readonly string[];
  /** The home directory; hidden by `strict`, empty if there is none. */
  readonly home: readonly string[];
  /** nacre's own files, from `OwnFiles.find`; hidden even without a sandbox. */
  readonly ownFiles: readonly string[];
  /** Existing files and folders with keys, such as `~/.ssh`, hidden in a sandbox. */
  readonly keyStores: readonly string[];
  readonly isRoot: boolean;
  readonly extraMounts: readonly Mount[];
  /** The parts that come from its room; without them it has an empty /tmp and its own network namespace. */
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
  /** Names in /tmp that get a mount in every sandbox of the room (`Room.addMountPoints`). */
  readonly mountPoints: readonly string[];
  /** True if the command runs in the room's network namespace. */
  readonly isJoined: boolean;
  /** The command line that enters it (`RoomNetwork.enter`); empty if it is not shared, or if the parent process is in it. */
  readonly enter: readonly string[];
}

/** The dependencies of `toSandboxPlan`. */
export interface SandboxDeps {
  /** The server's `cwd`, against which a relative workspace is resolved. */
  readonly cwd: string;
  readonly home: string;
  readonly ownFiles: Pick<OwnFiles, 'find'>;
  readonly isRoot: boolean;
}

const keyStoreNames = [...credentialFolders, ...credentialFiles];

/** Makes the sandbox plan of one command; throws `isolation_unavailable` if `toWritable` refuses its workspace. */
export function toSandboxPlan(deps: SandboxDeps, isolation: Isolation, cwd: string): SandboxPlan {
  const network = toNetwork(isolation);
  return {
    isolation,
    writable: toWritable(deps, isolation, cwd),
    home: toCanonical(deps.home),
    keyStores: findKeyStores(deps.home),
    isRoot: deps.isRoot,
    extraMounts: [],
    sockets: network === 'on' ? () => [] : findHostSockets,
    ownFiles: deps.ownFiles.find(),
  };
}

/**
 * Adds folders that the command may see. They are read-only: nacre opens files there by name, and a symlink that a
 * command puts in their place would lead it out of the sandbox. A FIFO on a read-only mount can still be written.
 */
export function withVisibleFolders(plan: SandboxPlan, folders: readonly string[]): SandboxPlan {
  return { ...plan, extraMounts: [...plan.extraMounts, ...folders.map(mountReadOnly)] };
}

/** Names in /tmp on or below which the plan mounts something. */
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

// Canonical: a mount that covers a path must be at the path itself, not at a symlink to it.
function findKeyStores(home: string): readonly string[] {
  return keyStoreNames.flatMap((name) => toCanonical(join(home, name)));
}

/** The directories of `workspace`, or `cwd`, that stay writable in a sandbox; throws if one is not acceptable. */
export function toWritable(
  deps: SandboxDeps,
  { workspace, sandbox }: Isolation,
  cwd: string,
): readonly string[] {
  if (sandbox === 'off') return [];
  const named = workspace.length > 0 ? workspace : [cwd];
  return named.map((name) => {
    const [folder] = toCanonical(resolve(deps.cwd, name));
    if (folder === undefined) throw workspaceRefused(sandbox, name, 'does not exist');
    const reason = whyNot(folder, deps) ?? (workspace.length > 0 ? undefined : whyNotByDefault(folder, deps));
    if (reason !== undefined) throw workspaceRefused(sandbox, folder, reason);
    return folder;
  });
}

function whyNot(folder: string, { home, ownFiles }: SandboxDeps): string | undefined {
  const isIn = (places: readonly string[]) => places.some((place) => `${folder}/`.startsWith(`${place}/`));
  if ([home, ...toCanonical(home)].some((one) => isTooWide(folder, one)))
    return 'is too wide for a workspace';
  if (isIn(findKeyStores(home))) return 'contains keys';
  return isIn(ownFiles.find()) ? "is one of nacre's own folders" : undefined;
}

// A settings folder is accepted if `workspace` names it, but not just because a call runs there.
function whyNotByDefault(folder: string, { home }: SandboxDeps): string | undefined {
  const contains = [home, ...toCanonical(home)].some((one) => overlapsUserConfig(folder, one));
  return contains ? 'contains settings of programs outside of it' : undefined;
}

function workspaceRefused(sandbox: string, folder: string, reason: string): NacreError {
  return new NacreError(
    'isolation_unavailable',
    `The sandbox ${sandbox} would leave ${folder} writable, which ${reason}.`,
    { hint: 'Run it in a project folder, or set workspace to the folders that may be written.' },
  );
}

/** The network access of a command; with `sandbox: strict` the setting `network: on` has no effect. */
export function toNetwork({ sandbox, network, networkAllow }: Isolation): Enforcement['network'] {
  if (sandbox === 'off' || (sandbox === 'workspace' && network === 'on')) return 'on';
  return networkAllow.length > 0 ? 'filtered' : 'off';
}

/** The isolation of one command: that of the settings, or a stricter `sandbox` of the call; throws for a looser one. */
export function tightenIsolation(settings: Isolation, requested: RequestedIsolation = {}): Isolation {
  const { sandbox = settings.sandbox, workspace = [] } = requested;
  if (sandboxNames.indexOf(sandbox) < sandboxNames.indexOf(settings.sandbox)) {
    throw new NacreError(
      'invalid_request',
      `sandbox ${sandbox} is looser than ${settings.sandbox}, which the settings require. Nothing was run.`,
      { hint: `Omit sandbox, or request ${sandboxNames.at(-1)}.` },
    );
  }
  return { ...settings, sandbox, workspace: settings.workspace.length > 0 ? settings.workspace : workspace };
}

/** The mounts of a sandbox in order; calls `plan.sockets` and checks with `statSync` which hidden paths are files. */
export function toMounts(plan: SandboxPlan): readonly Mount[] {
  const { pinned = [] } = plan;
  const root = plan.isolation.sandbox === 'off' ? withoutSandbox(plan) : inSandbox(plan);
  const isBridged = toNetwork(plan.isolation) === 'filtered' && hasOwnNetwork(plan);
  const extraMounts = isBridged ? [...plan.extraMounts, mountBridge] : plan.extraMounts;
  return [...root, ...extraMounts, ...pinned.map(mountReadOnly), ...toProcMounts(plan)];
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

// First `/` read-only, then the hidden paths, then `writable`, which may be inside hidden folders.
function inSandbox(plan: SandboxPlan): readonly Mount[] {
  const { home, keyStores, ownFiles, writable } = plan;
  const replaced = ['/dev', '/tmp', '/run'];
  const hidden = (plan.isolation.sandbox === 'strict' ? [...home, ...keyStores] : keyStores).filter(
    (path) => !isCovered(path, replaced, writable),
  );
  return [
    mountReadOnly('/'),
    { kind: 'dev', to: '/dev' },
    // Other programs have their sockets in /tmp and /run; a read-only mount does not prevent connecting to them.
    ...toTmpMounts(plan),
    { kind: 'tmpfs', to: '/run' },
    { ...mountReadOnly('/run/systemd/resolve'), optional: true },
    ...hidden.map(hide),
    ...writable.map(mountWritable),
    // Again, because `writable` may contain key stores.
    ...inside(keyStores, writable).map(hide),
    ...ownFiles.filter((path) => !isCovered(path, [...hidden, ...replaced], writable)).map(hide),
    ...plan
      .sockets()
      .filter((path) => !isCovered(path, [...hidden, ...ownFiles], writable))
      .map(maskFile),
  ];
}

function toTmpMounts({ shared, writable }: SandboxPlan): readonly Mount[] {
  const tmp = '/tmp';
  if (shared?.tmp === undefined) return [{ kind: 'tmpfs', to: tmp }];
  const mountPoints = shared.mountPoints.map((name) => `${tmp}/${name}`);
  return [
    { ...mountWritable(shared.tmp), to: tmp },
    ...mountPoints.filter((path) => !writable.includes(path)).map((to) => ({ kind: 'tmpfs', to }) as const),
  ];
}

function hide(path: string): Mount {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  return isFile ? maskFile(path) : { kind: 'tmpfs', to: path };
}

// A path in a hidden folder is hidden with it, unless a workspace makes that part visible again.
function isCovered(path: string, hidden: readonly string[], writable: readonly string[]): boolean {
  return inside([path], hidden).length > 0 && inside([path], writable).length === 0;
}

function inside(paths: readonly string[], folders: readonly string[]): readonly string[] {
  return paths.filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)));
}
