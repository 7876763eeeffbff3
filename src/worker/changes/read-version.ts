import { constants } from 'node:fs';
import { type FileHandle, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/** A file of the workspace or of a layer: the folder at the top, which is trusted, and the path in it, which is not. */
export interface VersionPlace {
  readonly folder: string;
  readonly path: string;
}

/** The text of a file or the target of a symlink; otherwise the reason why there is none to show. */
export type VersionText = { readonly text: string } | { readonly reason: string };

const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * Reads one version of a file. Each folder on the way is opened without following symlinks and used by its descriptor: a
 * command that runs at the same time may replace one by a symlink to a place outside of its sandbox.
 */
export async function readVersion({ folder, path }: VersionPlace, maxBytes: number): Promise<VersionText> {
  const names = path.split('/').filter((name) => name !== '');
  const last = names.pop();
  if (last === undefined || names.includes('..') || last === '..') return unreadable;
  let above: FileHandle | undefined;
  try {
    above = await open(folder, O_RDONLY | O_DIRECTORY);
    for (const name of names) {
      const inner = await open(inFolder(above, name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
      await above.close();
      above = inner;
    }
    return await readName(inFolder(above, last), maxBytes);
  } catch {
    return unreadable;
  } finally {
    await above?.close();
  }
}

const unreadable = { reason: 'cannot be read' } as const;

function inFolder({ fd }: FileHandle, name: string): string {
  return join('/proc/self/fd', String(fd), name);
}

async function readName(place: string, maxBytes: number): Promise<VersionText> {
  try {
    return { text: `${await readlink(place)}\n` };
  } catch {
    return readText(place, maxBytes);
  }
}

async function readText(place: string, maxBytes: number): Promise<VersionText> {
  const file = await open(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const status = await file.stat();
    if (!status.isFile()) return unreadable;
    if (status.size > maxBytes) return { reason: 'too large for a diff' };
    const { buffer, bytesRead } = await file.read(Buffer.alloc(status.size), 0, status.size, 0);
    const text = buffer.toString('utf8', 0, bytesRead);
    return text.includes('\0') || text.includes('\ufffd') ? { reason: 'binary' } : { text };
  } finally {
    await file.close();
  }
}
