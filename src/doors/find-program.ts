import { accessSync, constants, existsSync } from 'node:fs';
import { join } from 'node:path';

/** The path of a program on the PATH. */
export function findOnPath(path: string, name: string): string | undefined {
  return path
    .split(':')
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, name))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return existsSync(path);
  } catch {
    return false;
  }
}
