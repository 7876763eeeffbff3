import { accessSync, constants, lstatSync, mkdirSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** One line of /proc/self/mountinfo. */
export interface MountPoint {
  readonly id: string;
  /** The device number of its file system. */
  readonly device: string;
  /** The folder of the file system that is mounted. */
  readonly root: string;
  readonly path: string;
  readonly type: string;
}

/** Parses /proc/self/mountinfo. */
export function parseMountInfo(text: string): readonly MountPoint[] {
  return text.split('\n').flatMap((line) => {
    const [id, , device, root, path, ...rest] = line.split(' ');
    const type = rest[rest.indexOf('-') + 1];
    if (id === undefined || device === undefined || root === undefined || path === undefined) return [];
    return [{ id, device, root: decodeOctal(root), path: decodeOctal(path), type: type ?? '' }];
  });
}

/** Reads the mounts that this process sees. */
export function readMounts(): readonly MountPoint[] {
  return parseMountInfo(readFileSync('/proc/self/mountinfo', 'utf8'));
}

function decodeOctal(field: string): string {
  return field.replace(/\\(\d{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** The mount that shows a path: the last one of those with the longest path. */
export function mountOf(path: string, mounts: readonly MountPoint[]): MountPoint | undefined {
  return mounts.reduce<MountPoint | undefined>((best, one) => {
    if (!isWithin(path, one.path)) return best;
    return best === undefined || one.path.length >= best.path.length ? one : best;
  }, undefined);
}

/** The first mount inside of a folder. */
export function findInnerMount(folder: string, mounts: readonly MountPoint[]): string | undefined {
  return mounts.find(({ path }) => path !== folder && isWithin(path, folder))?.path;
}

/** Other paths that show a folder or a part of it, by a bind mount or a second mount of its file system. */
export function findAliases(
  folder: string,
  mounts: readonly MountPoint[],
): readonly (readonly [part: string, path: string])[] {
  const own = mountOf(folder, mounts);
  if (!own) return [];
  const inFileSystem = join(own.root, folder.slice(own.path === '/' ? 0 : own.path.length));
  const same = mounts.filter(({ id, device }) => id !== own.id && device === own.device);
  return same.flatMap((mount) => {
    const found = toAlias(folder, inFileSystem, mount);
    return found && mountOf(found[1], mounts) === mount ? [found] : [];
  });
}

function toAlias(
  folder: string,
  inFileSystem: string,
  { root, path }: MountPoint,
): readonly [string, string] | undefined {
  if (isWithin(inFileSystem, root))
    return [folder, join(path, inFileSystem.slice(root === '/' ? 0 : root.length))];
  return isWithin(root, inFileSystem) ? [join(folder, root.slice(inFileSystem.length)), path] : undefined;
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`);
}

/**
 * Finds a folder for layers that is on the same mount as a workspace, so that changes can be applied by rename(), and
 * outside of it, as overlayfs requires: `preferred`, or a hidden folder in the highest writable folder above the
 * workspace.
 */
export function findStore(
  workspace: string,
  preferred: string,
  mounts: readonly MountPoint[],
): { readonly path: string } | { readonly reason: string } {
  const own = mountOf(workspace, mounts);
  if (own?.type === 'overlay')
    return { reason: `${workspace} is on an overlay file system, which cannot contain layers` };
  // Subvolumes of btrfs are parts of one mount, but rename() fails between them.
  const device = deviceOf(workspace);
  const isUsable = (folder: string) =>
    mountOf(folder, mounts) === own && !isWithin(folder, workspace) && deviceOf(folder) === device;
  if (isUsable(tryRealpath(preferred))) return { path: preferred };
  for (const folder of above(workspace)) {
    if (!isUsable(folder)) continue;
    const path = tryToMake(join(folder, `.nacre-changes-${process.getuid?.() ?? 0}`));
    if (path !== undefined) return { path };
  }
  return {
    reason: `there is no writable folder outside of ${workspace} on its file system that could contain layers`,
  };
}

// The folder itself may not have been created yet.
function deviceOf(path: string): number | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found || dirname(path) === path ? found?.dev : deviceOf(dirname(path));
}

// The highest folder comes first.
function above(path: string): readonly string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...above(folder), folder];
}

function tryToMake(path: string): string | undefined {
  try {
    accessSync(dirname(path), constants.W_OK);
    mkdirSync(path, { mode: 0o700 });
    return path;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return undefined;
  }
  // In a folder that others can write to, another user may have created it.
  const found = lstatSync(path, { throwIfNoEntry: false });
  const isOurs = found?.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
  return isOurs ? path : undefined;
}

function tryRealpath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
