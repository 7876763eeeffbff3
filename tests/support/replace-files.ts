import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Replaces every file in a folder by an empty one with the same name. */
export function replaceFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    rmSync(join(folder, name));
    writeFileSync(join(folder, name), '');
  }
}
