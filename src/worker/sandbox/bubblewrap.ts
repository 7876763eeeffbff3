import { statSync } from 'node:fs';
import type { Isolation } from '../../contract/isolation.ts';
import { toNetwork } from './to-network.ts';

/** What a sandbox is made of. All paths are canonical. */
export interface SandboxPlan {
  readonly isolation: Isolation;
  /** Directories that stay writable; already checked. */
  readonly writable: readonly string[];
  /** The home directory, if there is one. */
  readonly home: readonly string[];
  /** Folders and files of nacre that no command should read. */
  readonly ownFiles: readonly string[];
  /** Folders and files with keys, hidden in a sandbox. Only those that exist. */
  readonly keyStores: readonly string[];
  readonly isRoot: boolean;
  /** Further mounts, as bubblewrap's arguments. */
  readonly mounts: readonly string[];
  /** Sockets of programs outside, which a command without a network must not reach; they come and go. */
  sockets(): readonly string[];
  /** Files and folders that stay as they are, whatever else is writable or hidden. */
  readonly pinned?: readonly string[] | undefined;
}

/** The arguments for bubblewrap, up to the `--` before the command. */
export function toBubblewrapArguments(plan: SandboxPlan): readonly string[] {
  const supervision = ['--unshare-pid', '--die-with-parent'];
  return [...supervision, ...fileSystem(plan), ...pin(plan), ...separation(plan), '--proc', '/proc', '--'];
}

// Later mounts cover earlier ones: first the read-only whole, then what is hidden, then what stays writable.
function fileSystem(plan: SandboxPlan): readonly string[] {
  const { sandbox } = plan.isolation;
  if (sandbox === 'off') return ['--dev-bind', '/', '/', ...hide(plan.ownFiles), ...plan.mounts];
  const hidden = sandbox === 'strict' ? [...plan.home, ...plan.keyStores] : plan.keyStores;
  const gone = [...hidden, '/dev', '/tmp', '/run'];
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev'],
    // Sockets of other programs live in these; a read-only mount does not keep anybody from connecting.
    ...[
      '--tmpfs',
      '/tmp',
      '--tmpfs',
      '/run',
      '--ro-bind-try',
      '/run/systemd/resolve',
      '/run/systemd/resolve',
    ],
    ...hide(hidden),
    ...plan.writable.flatMap((path) => ['--bind', path, path]),
    // A workspace may lie above them.
    ...hide(within(plan.keyStores, plan.writable)),
    ...hide(plan.ownFiles.filter((path) => !isCovered(path, gone, plan.writable))),
    ...plan
      .sockets()
      .filter((path) => !isCovered(path, [...hidden, ...plan.ownFiles], plan.writable))
      .flatMap((path) => ['--ro-bind', '/dev/null', path]),
    ...plan.mounts,
  ];
}

function pin({ pinned = [] }: SandboxPlan): readonly string[] {
  return pinned.flatMap((path) => ['--ro-bind', path, path]);
}

function separation({ isolation, isRoot }: SandboxPlan): readonly string[] {
  if (isolation.sandbox === 'off') return [];
  return [
    ...['--unshare-ipc', '--unshare-uts'],
    ...(toNetwork(isolation) === 'on' ? [] : ['--unshare-net']),
    // Root could remount what is read-only, from a namespace in which it still has its powers.
    ...(isRoot ? ['--unshare-user', '--cap-drop', 'ALL'] : []),
    ...(isolation.sandbox === 'strict' ? ['--new-session', '--unshare-cgroup-try'] : []),
  ];
}

function hide(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => (isFile(path) ? ['--ro-bind', '/dev/null', path] : ['--tmpfs', path]));
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

// What lies in a hidden folder is hidden with it, unless a workspace shows that part again.
function isCovered(path: string, hidden: readonly string[], writable: readonly string[]): boolean {
  return within([path], hidden).length > 0 && within([path], writable).length === 0;
}

function within(paths: readonly string[], folders: readonly string[]): readonly string[] {
  return paths.filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)));
}
