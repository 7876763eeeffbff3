import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The number of files in a folder, and their total size. */
interface FolderSize {
  readonly files: number;
  readonly bytes: number;
}

/** Measures the files directly in `folder`; a missing folder counts as empty. */
export async function measureFolder(folder: string): Promise<FolderSize> {
  const names = await readdir(folder).catch(() => []);
  let [files, bytes] = [0, 0];
  for (const name of names) {
    const found = await stat(join(folder, name)).catch(() => undefined);
    if (!found?.isFile()) continue;
    files += 1;
    bytes += found.size;
  }
  return { files, bytes };
}
