import { closeSync, constants, fstatSync, lstatSync, openSync, readFileSync, type Stats } from 'node:fs';

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY } = constants;

const writing = O_CREAT | O_NOFOLLOW;
const flagsOf = {
  read: O_RDONLY,
  append: O_WRONLY | O_APPEND | writing,
  'read and append': O_RDWR | O_APPEND | writing,
  replace: O_WRONLY | O_TRUNC | writing,
};

/** The purpose of an open file; all but `read` create the file with mode 0600 if it is missing. */
export type FileUse = keyof typeof flagsOf;

/**
 * Opens a file, and throws for anything else at its path. O_NONBLOCK keeps `open` from waiting for the other end of a FIFO;
 * O_NOFOLLOW keeps a symlink from redirecting a write.
 */
export function openRegularFile(path: string, use: FileUse): number {
  const fd = openOrExplain(path, use);
  const found = fstatSync(fd);
  if (found.isFile()) return fd;
  closeSync(fd);
  throw notRegular(path, found);
}

// The longest string in Node.js has 512 MiB; a file can be larger without using any disk space.
const longestText = 536_870_000;

/** Reads a whole file as text, and throws for a FIFO, a device, a folder, or a file of more than `maxBytes`. */
export function readRegularFile(path: string, maxBytes = longestText): string {
  const fd = openRegularFile(path, 'read');
  try {
    if (fstatSync(fd).size > maxBytes) throw new Error(`${path} is larger than ${maxBytes} bytes`);
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function openOrExplain(path: string, use: FileUse): number {
  try {
    return openSync(path, flagsOf[use] | O_NONBLOCK, 0o600);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const found = lstatSync(path, { throwIfNoEntry: false });
    // ENXIO: a socket, or a FIFO without a reader. ELOOP: a symlink. A missing parent or a folder explains itself.
    if (found !== undefined && (code === 'ENXIO' || code === 'ELOOP')) throw notRegular(path, found);
    throw error;
  }
}

function notRegular(path: string, found: Stats): Error {
  return new Error(`${path} is ${kindOf(found)} where a regular file belongs; move it away`);
}

function kindOf(found: Stats): string {
  if (found.isSymbolicLink()) return 'a symbolic link';
  if (found.isFIFO()) return 'a FIFO';
  if (found.isSocket()) return 'a socket';
  return found.isDirectory() ? 'a folder' : 'a device';
}
