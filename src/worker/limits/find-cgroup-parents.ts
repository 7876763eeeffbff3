import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const wantedControllers = ['memory', 'pids'] as const;

/** A cgroup controller that nacre uses. */
export type Controller = (typeof wantedControllers)[number];

/** A cgroup below which others may be created, and the controllers that they will have. */
export interface CgroupParent {
  readonly version: 1 | 2;
  readonly folder: string;
  readonly controllers: readonly Controller[];
}

/**
 * The server's own cgroups in each hierarchy with a `memory` or `pids` controller. With `mayEnable`, controllers are
 * enabled for the children of version 2 cgroups (`cgroup.subtree_control`).
 */
export function findCgroupParents({ mayEnable }: { readonly mayEnable: boolean }): readonly CgroupParent[] {
  try {
    const mounts = parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
    return toCgroupParents(parseOwnGroups(readFileSync('/proc/self/cgroup', 'utf8')), mounts, mayEnable);
  } catch {
    return [];
  }
}

/** The cgroups below which a process in `groups` can create others. */
export function toCgroupParents(
  groups: readonly OwnGroup[],
  mounts: readonly CgroupMount[],
  mayEnable: boolean,
): readonly CgroupParent[] {
  return groups.flatMap((own) =>
    own.controllers.length === 0 ? findInVersion2(own.path, mounts, mayEnable) : findInVersion1(own, mounts),
  );
}

/** A cgroup that this process is in, from /proc/self/cgroup. */
export interface OwnGroup {
  readonly controllers: readonly string[];
  readonly path: string;
}

/** A mounted cgroup hierarchy, from /proc/self/mountinfo. */
export interface CgroupMount {
  readonly version: 1 | 2;
  readonly root: string;
  readonly point: string;
  readonly options: readonly string[];
}

/** Parses the cgroup lines of /proc/self/mountinfo. */
export function parseMounts(text: string): readonly CgroupMount[] {
  return text.split('\n').flatMap((line) => {
    const [place = '', kind = ''] = line.split(' - ');
    const [, , , root, point] = place.split(' ');
    const [type, , options = ''] = kind.split(' ');
    if (root === undefined || point === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return [];
    return [{ version: type === 'cgroup' ? 1 : 2, root, point, options: options.split(',') }];
  });
}

/** Parses /proc/self/cgroup: `4:memory:/a/b`, or `0::/a/b` for version 2. */
export function parseOwnGroups(text: string): readonly OwnGroup[] {
  return text.split('\n').flatMap((line) => {
    const [, controllers, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) return [];
    return [{ controllers: controllers.split(',').filter(Boolean), path }];
  });
}

function findInVersion1(
  { controllers, path }: OwnGroup,
  mounts: readonly CgroupMount[],
): readonly CgroupParent[] {
  const used = wantedControllers.filter((controller) => controllers.includes(controller));
  const mount = mounts.find(
    ({ version, options }) => version === 1 && used.some((one) => options.includes(one)),
  );
  return mount === undefined ? [] : [{ version: 1, folder: toFolder(path, mount), controllers: used }];
}

// A version 2 cgroup with processes cannot enable controllers for its children, unless it is the root. Its parent can,
// if we may write to it.
function findInVersion2(
  path: string,
  mounts: readonly CgroupMount[],
  mayEnable: boolean,
): readonly CgroupParent[] {
  const mount = mounts.find(({ version }) => version === 2);
  if (mount === undefined) return [];
  const own = toFolder(path, mount);
  const above = own === mount.point ? [] : [dirname(own)];
  for (const folder of [own, ...above]) {
    const controllers = enabledControllers(folder, mayEnable && folder === own);
    if (controllers.length > 0) return [{ version: 2, folder, controllers }];
  }
  return [];
}

function enabledControllers(folder: string, mayEnable: boolean): readonly Controller[] {
  const read = (file: string) => readWords(join(folder, file));
  const offered = wantedControllers.filter((controller) => read('cgroup.controllers').includes(controller));
  const missing = offered.filter((controller) => !read('cgroup.subtree_control').includes(controller));
  if (mayEnable && missing.length > 0) tryEnable(join(folder, 'cgroup.subtree_control'), missing);
  const enabled = read('cgroup.subtree_control');
  return offered.filter((controller) => enabled.includes(controller));
}

function tryEnable(file: string, controllers: readonly Controller[]): void {
  try {
    writeFileSync(file, controllers.map((controller) => `+${controller}`).join(' '));
  } catch {
    // EBUSY if the cgroup has processes, EACCES if it belongs to another user.
  }
}

function readWords(file: string): readonly string[] {
  try {
    return readFileSync(file, 'latin1').trim().split(/\s+/);
  } catch {
    return [];
  }
}

// In a container, /proc/self/cgroup may show the path as the host sees it, of which only the end is mounted.
function toFolder(path: string, { root, point }: CgroupMount): string {
  const isBelow = path === root || path.startsWith(root === '/' ? '/' : `${root}/`);
  const folder = isBelow ? join(point, path.slice(root === '/' ? 0 : root.length)) : point;
  return existsSync(folder) ? folder : point;
}
