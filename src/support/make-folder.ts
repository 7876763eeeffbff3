import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Makes a folder that only its owner can read, and the folders above it. Step by step: Node's own recursive way never
 * returns where a file system refuses folders with ENOENT, as /proc does.
 */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    const result = tryToMake(folder);
    if (result === 'made') break;
    missing.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  for (const folder of missing) mkdirUnlessThere(folder);
}

function tryToMake(path: string): 'made' | 'parent missing' {
  try {
    mkdirUnlessThere(path);
    return 'made';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'parent missing';
    throw error;
  }
}

function mkdirUnlessThere(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
