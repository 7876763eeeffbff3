const systemFolders = new Set(
  'bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys tmp usr var'
    .split(' ')
    .map((name) => `/${name}`),
);
const neverBelow = ['/boot', '/dev', '/etc', '/proc', '/sys', '/usr', '/run'];

/** Whether a folder is too wide for a workspace: the root, the home directory or a parent of it, or a system folder. */
export function isTooWide(folder: string, home: string): boolean {
  const isAbove = home === folder || home.startsWith(folder === '/' ? '/' : `${folder}/`);
  return isAbove || isSystemFolder(folder);
}

/** Whether a folder is the root, one of the folders in it that every system has, or in one that only the system changes. */
export function isSystemFolder(folder: string): boolean {
  const isBelow = neverBelow.some((place) => folder.startsWith(`${place}/`));
  return folder === '/' || systemFolders.has(folder) || isBelow;
}
