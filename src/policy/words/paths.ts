/** Resolves `.`, `..`, doubled slashes and relative paths (from `cwd`). Undefined for a relative path with unknown `cwd`. */
export function normalisePath(path: string, cwd: string | undefined): string | undefined {
  if (!path.startsWith('/') && cwd === undefined) return undefined;
  const inside = cwd !== undefined && path.startsWith('/proc/') ? throughCwd.exec(path)?.[0] : undefined;
  // `/proc/self/cwd` is the working directory.
  if (inside !== undefined) return normalisePath(`.${path.slice(inside.length)}`, cwd);
  if (path.startsWith('/dev/fd/..'))
    return normalisePath(`/proc/self${path.slice('/dev/fd/..'.length)}`, cwd);
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${cwd}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return throughProc(`/${parts.join('/')}`);
}

const throughCwd = /^\/proc\/[^/]+(?:\/task\/[^/]+)?\/cwd(?=\/|$)/;

/** `/proc/self/root` and the same folder of another process lead to the root directory. */
function throughProc(path: string): string {
  if (!path.startsWith('/proc/')) return path;
  const inside = /^\/proc\/[^/]+(?:\/task\/[^/]+)?\/root(?=\/|$)/.exec(path)?.[0];
  if (inside === undefined) return path;
  const rest = path.slice(inside.length);
  return rest === '' ? '/' : throughProc(rest);
}

/** The last component of a path: `git` for `/usr/bin/git`. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The directory of a normalised path. */
export function directoryOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}
