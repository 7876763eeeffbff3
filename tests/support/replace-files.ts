import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Puts an empty file in the place of everything in a folder. */
export function replaceFiles(folder: string): void {
  for (const name of readdirSync(folder)) {
    rmSync(join(folder, name));
    writeFileSync(join(folder, name), '');
  }
}
