const systemFolders = new Set(
  'bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys tmp usr var'
    .split(' ')
    .map((name) => `/${name}`),
);
const neverBelow = ['/boot', '/dev', '/etc', '/proc', '/sys', '/usr', '/run'];

/** Whether a folder is too wide for a workspace: the root, the home directory or a parent of it, or a system folder. */
export function isTooWide(folder: string, home: string): boolean {
  const isAbove = home === folder || home.startsWith(folder === '/' ? '/' : `${folder}/`);
  return isAbove || systemFolders.has(folder) || neverBelow.some((place) => folder.startsWith(`${place}/`));
}
