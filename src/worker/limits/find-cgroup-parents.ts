import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** A cgroup below which others may be made, and what they can hold. */
export interface Hierarchy {
  readonly version: 1 | 2;
  readonly parent: string;
  readonly controls: readonly ('memory' | 'pids')[];
}

const wanted = ['memory', 'pids'] as const;

/**
 * The server's own cgroups, in each hierarchy that can hold memory or processes; empty where there are none. Groups
 * of version 2 may have to be told first that those below them are to be held.
 */
export function findCgroupParents({ mayEnable }: { readonly mayEnable: boolean }): readonly Hierarchy[] {
  try {
    const mounts = parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'));
    return toHierarchies(parseOwnGroups(readFileSync('/proc/self/cgroup', 'utf8')), mounts, mayEnable);
  } catch {
    return [];
  }
}

/** Where a process in these groups can make others. */
export function toHierarchies(
  groups: readonly OwnGroup[],
  mounts: readonly CgroupMount[],
  mayEnable: boolean,
): readonly Hierarchy[] {
  return groups.flatMap((own) =>
    own.controls.length === 0 ? unified(own.path, mounts, mayEnable) : legacy(own, mounts),
  );
}

/** A group that this process is in. */
export interface OwnGroup {
  /** Empty for version 2. */
  readonly controls: readonly string[];
  readonly path: string;
}

/** A mounted hierarchy. */
export interface CgroupMount {
  readonly version: 1 | 2;
  /** The part of the hierarchy that is mounted. */
  readonly root: string;
  readonly point: string;
  readonly options: readonly string[];
}

/** Reads the cgroup lines of /proc/self/mountinfo. */
export function parseMounts(text: string): readonly CgroupMount[] {
  return text.split('\n').flatMap((line) => {
    const [place = '', kind = ''] = line.split(' - ');
    const [, , , root, point] = place.split(' ');
    const [type, , options = ''] = kind.split(' ');
    if (root === undefined || point === undefined || (type !== 'cgroup' && type !== 'cgroup2')) return [];
    return [{ version: type === 'cgroup' ? 1 : 2, root, point, options: options.split(',') }];
  });
}

/** Reads /proc/self/cgroup: `4:memory:/a/b`, and `0::/a/b` for version 2. */
export function parseOwnGroups(text: string): readonly OwnGroup[] {
  return text.split('\n').flatMap((line) => {
    const [, controls, path] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controls === undefined || path === undefined) return [];
    return [{ controls: controls.split(',').filter(Boolean), path }];
  });
}

function legacy({ controls, path }: OwnGroup, mounts: readonly CgroupMount[]): readonly Hierarchy[] {
  const held = wanted.filter((control) => controls.includes(control));
  const mount = mounts.find(
    ({ version, options }) => version === 1 && held.some((one) => options.includes(one)),
  );
  return mount === undefined ? [] : [{ version: 1, parent: toFolder(path, mount), controls: held }];
}

// A group of version 2 that has processes cannot have limited groups below it, unless it is the topmost; the group
// above it can, where it is ours.
function unified(path: string, mounts: readonly CgroupMount[], mayEnable: boolean): readonly Hierarchy[] {
  const mount = mounts.find(({ version }) => version === 2);
  if (mount === undefined) return [];
  const own = toFolder(path, mount);
  const above = own === mount.point ? [] : [dirname(own)];
  for (const parent of [own, ...above]) {
    const controls = enabled(parent, mayEnable && parent === own);
    if (controls.length > 0) return [{ version: 2, parent, controls }];
  }
  return [];
}

function enabled(parent: string, mayEnable: boolean): Hierarchy['controls'] {
  const read = (file: string) => readWords(join(parent, file));
  const offered = wanted.filter((control) => read('cgroup.controllers').includes(control));
  const missing = offered.filter((control) => !read('cgroup.subtree_control').includes(control));
  if (mayEnable && missing.length > 0) tryWrite(join(parent, 'cgroup.subtree_control'), missing);
  const now = read('cgroup.subtree_control');
  return offered.filter((control) => now.includes(control));
}

function tryWrite(file: string, controls: readonly string[]): void {
  try {
    writeFileSync(file, controls.map((control) => `+${control}`).join(' '));
  } catch {
    // It has processes, or belongs to somebody else.
  }
}

function readWords(file: string): readonly string[] {
  try {
    return readFileSync(file, 'latin1').trim().split(/\s+/);
  } catch {
    return [];
  }
}

// In a container the path may be the one that the host sees, of which only the end is mounted.
function toFolder(path: string, { root, point }: CgroupMount): string {
  const isBelow = path === root || path.startsWith(root === '/' ? '/' : `${root}/`);
  const folder = isBelow ? join(point, path.slice(root === '/' ? 0 : root.length)) : point;
  return existsSync(folder) ? folder : point;
}
