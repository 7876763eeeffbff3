import { closeSync, fstatSync, fsync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makeFolder } from '../support/make-folder.ts';

/** A file that grows by whole lines: each is there, or nothing of it. */
export interface LineFile {
  /** Returns when the line is written; throws when it cannot be. */
  append(line: string): void;
  /** Forces what is written to disk, then calls back; not at all when that fails. */
  sync(done: () => void): void;
  close(): void;
}

/** When lines are forced to disk: each before `append` returns, or all now and then. */
export type Fsync = 'interval' | 'always';

const fsyncIntervalMs = 1_000;

/** Makes a private file at its first line, and again when somebody has deleted it. */
export function createLineFile(path: string, fsyncMode: Fsync): LineFile {
  let file: number | null = null;
  let size = 0;
  let torn = false;
  let syncing: NodeJS.Timeout | null = null;

  const reopen = () => {
    if (file !== null) closeSync(file);
    file = null;
    makeFolder(dirname(path));
    file = openSync(path, 'a', 0o600);
    torn = false;
    return file;
  };
  const openFile = () => {
    const known = file === null ? undefined : fstatSync(file);
    const fd = file === null || known?.nlink === 0 ? reopen() : file;
    if (!torn) size = fd === file && known && known.nlink > 0 ? known.size : fstatSync(fd).size;
    return fd;
  };
  // A torn line would spoil every one after it. Where it cannot be cut off now, that comes before the next line.
  const mend = (fd: number) => {
    if (torn) ftruncateSync(fd, size);
    torn = false;
  };
  const syncSoon = () => {
    syncing ??= setTimeout(() => {
      syncing = null;
      if (file !== null) fsync(file, () => {});
    }, fsyncIntervalMs).unref();
  };

  return {
    append(line) {
      const fd = openFile();
      mend(fd);
      torn = true;
      try {
        writeAll(fd, line);
        if (fsyncMode === 'always') fsyncSync(fd);
      } catch (error) {
        mend(fd);
        throw error;
      }
      torn = false;
      if (fsyncMode === 'interval') syncSoon();
    },
    sync(done) {
      if (file !== null) fsync(file, (error) => error === null && done());
    },
    close() {
      if (syncing) clearTimeout(syncing);
      syncing = null;
      if (file === null) return;
      const closing = file;
      file = null;
      try {
        fsyncSync(closing);
      } finally {
        closeSync(closing);
      }
    },
  };
}

function writeAll(fd: number, text: string): void {
  let done = writeSync(fd, text);
  if (done === Buffer.byteLength(text)) return;
  for (const bytes = Buffer.from(text); done < bytes.length; ) done += writeSync(fd, bytes, done);
}
