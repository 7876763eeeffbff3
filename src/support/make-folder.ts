import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents, by default readable only by its owner. Replaces `mkdirSync` with `recursive: true`,
 * which loops forever on a file system that refuses new folders with ENOENT, such as /proc.
 */
export function makeFolder(path: string, mode = 0o700): void {
  const missing: string[] = [];
  for (let folder = path; ; folder = dirname(folder)) {
    const result = tryToMake(folder, mode);
    if (result === 'made') break;
    missing.unshift(folder);
    if (folder === dirname(folder)) break;
  }
  for (const folder of missing) mkdirUnlessThere(folder, mode);
}

function tryToMake(path: string, mode: number): 'made' | 'parent missing' {
  try {
    mkdirUnlessThere(path, mode);
    return 'made';
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'parent missing';
    throw error;
  }
}

function mkdirUnlessThere(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
}
