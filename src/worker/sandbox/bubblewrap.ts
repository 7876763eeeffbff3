// The only file that knows the command line of bubblewrap (`bwrap`).
import { toEnterCommand } from '../changes/enter-layers.ts';
import type { BindMount, Mount } from './mount.ts';
import { mountCapabilities } from './mount-capabilities.ts';
import { hasOwnNetwork, type SandboxPlan, toMounts } from './sandbox-plan.ts';

/** Options of `toBubblewrapCommand`. */
export interface BubblewrapOptions {
  /** A descriptor that the sandbox's init process keeps open as long as it lives (`heldFd` of the fork server). */
  readonly heldFd?: number | undefined;
  /** A descriptor from which a seccomp filter for the sandbox is read (`keyFilter`). */
  readonly filterFd?: number | undefined;
  /** True if the keeper runs under `setsid --ctty`, which fails for a process that is already a session leader. */
  readonly atTerminal?: boolean | undefined;
}

/** The `bwrap` command line of a sandbox, up to the program that runs in it. */
export function toBubblewrapCommand(
  plan: SandboxPlan,
  { heldFd, filterFd, atTerminal = false }: BubblewrapOptions = {},
): readonly [string, ...string[]] {
  const inLayer = plan.layer ? (toEnterCommand(plan.layer.folders) ?? []) : [];
  const [first = 'bwrap', ...rest] = [...(plan.shared?.enter ?? []), ...inLayer, 'bwrap'];
  return [
    first,
    ...rest,
    ...(heldFd === undefined ? [] : ['--sync-fd', String(heldFd)]),
    ...(filterFd === undefined ? [] : ['--seccomp', String(filterFd)]),
    ...['--unshare-pid', '--die-with-parent'],
    ...toMounts(plan).flatMap(toMountFlags),
    ...toSeparationFlags(plan, atTerminal),
    '--',
  ];
}

/** The command line that runs a program in a new network namespace with loopback, and with the files of the machine. */
export function toNetworkCommand(): readonly [string, ...string[]] {
  return ['bwrap', '--unshare-user', '--unshare-net', '--die-with-parent', '--dev-bind', '/', '/', '--'];
}

function toMountFlags(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case 'bind':
      return toBindFlags(mount);
    case 'tmpfs':
      return ['--perms', mount.writable ? '1777' : '0555', '--tmpfs', mount.to];
    case 'symlink':
      return ['--symlink', mount.target, mount.to];
    case 'seal':
      return ['--remount-ro', mount.to];
    default:
      return [`--${mount.kind}`, mount.to];
  }
}

function toBindFlags({
  from,
  to,
  readOnly,
  devices = false,
  optional = false,
}: BindMount): readonly string[] {
  const access = readOnly ? 'ro-' : devices ? 'dev-' : '';
  return [`--${access}bind${optional ? '-try' : ''}`, from, to];
}

function toSeparationFlags(plan: SandboxPlan, atTerminal: boolean): readonly string[] {
  const { isolation, isRoot } = plan;
  const { sandbox } = isolation;
  if (sandbox === 'off') return plan.layer && isRoot ? withoutMountCapabilities : [];
  return [
    ...['--unshare-ipc', '--unshare-uts'],
    ...(hasOwnNetwork(plan) ? ['--unshare-net'] : []),
    // With CAP_SYS_ADMIN root could remount read-only mounts writable.
    ...(isRoot ? ['--unshare-user', '--cap-drop', 'ALL'] : []),
    ...(sandbox === 'strict' ? ['--unshare-cgroup-try'] : []),
    ...(sandbox === 'strict' && !atTerminal ? ['--new-session'] : []),
  ];
}

const withoutMountCapabilities = Object.keys(mountCapabilities).flatMap((name) => [
  '--cap-drop',
  `CAP_${name}`,
]);
