/** Replaces `~` at the beginning of a path by the home directory. */
export function expandHome(path: string, home: string): string {
  return path.replace(/^~(?=\/)/, home);
}
