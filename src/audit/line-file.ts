import { closeSync, fstatSync, fsync, fsyncSync, ftruncateSync, lstatSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeFolder } from '../support/make-folder.ts';
import { openRegularFile } from '../support/regular-file.ts';
import { toFileName } from './audit-files.ts';
import type { ChainHead } from './chain.ts';

/** A file to which lines are appended atomically: after a failed write no part of the line remains. */
export interface LineFile {
  /** Writes the line with one write(); throws if that fails. */
  append(line: string): void;
  /** Calls `done` after fsync(); not at all if that fails. */
  sync(done: () => void): void;
  close(): void;
}

/** When fsync() runs: `always` before each `append` returns, `interval` about once a second in the background. */
export type Fsync = 'interval' | 'always';

const fsyncIntervalMs = 1_000;

/**
 * Opens the file with O_APPEND and mode 0600 at the first line. Creates it again if it was deleted or moved away, and throws
 * if a symbolic link, a hard link or a FIFO is in its place, since lines would end up elsewhere.
 */
export function createLineFile(path: string, fsyncMode: Fsync): LineFile {
  let file: number | null = null;
  let inode = { ino: 0, dev: 0 };
  let size = 0;
  let isPartial = false;
  let syncing: NodeJS.Timeout | null = null;

  const reopen = () => {
    if (file !== null) closeSync(file);
    file = null;
    makeFolder(dirname(path));
    const fd = openRegularFile(path, 'append');
    const { ino, dev, nlink } = fstatSync(fd);
    if (nlink > 1) {
      closeSync(fd);
      throw new Error(`${path} is a hard link to another file; move it away`);
    }
    file = fd;
    inode = { ino, dev };
    isPartial = false;
    return fd;
  };
  const openFile = () => {
    const there = file === null ? undefined : lstatSync(path, { throwIfNoEntry: false });
    const isSame = there !== undefined && there.ino === inode.ino && there.dev === inode.dev;
    const fd = file === null || !isSame ? reopen() : file;
    if (!isPartial) size = isSame ? there.size : fstatSync(fd).size;
    return fd;
  };
  // A partial line would break the chain. If ftruncate() fails now, the next `append` tries again.
  const removePartialLine = (fd: number) => {
    if (isPartial) ftruncateSync(fd, size);
    isPartial = false;
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
      removePartialLine(fd);
      isPartial = true;
      try {
        writeAll(fd, line);
        if (fsyncMode === 'always') fsyncSync(fd);
      } catch (error) {
        removePartialLine(fd);
        throw error;
      }
      isPartial = false;
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

/** The folder and server id of a `DayFile`, and its `fsync` mode. */
export interface DayFileOptions {
  readonly dir: string;
  readonly instance: string;
  readonly fsync: Fsync;
}

/** The file with the records of one day of one server. */
export class DayFile {
  readonly name: string;
  readonly day: string;
  readonly path: string;
  /** The `seq` of its first record. */
  readonly first: number;
  /** The digest of the record before `first`. */
  readonly before: string;
  /** The number after the last record that the index knows; equals `first` until the first anchor. */
  anchored: number;
  readonly #lines: LineFile;
  #isOpen = true;

  constructor(day: string, { dir, instance, fsync }: DayFileOptions, head: ChainHead) {
    this.day = day;
    this.name = toFileName(day, instance);
    this.path = join(dir, this.name);
    this.first = head.sequence;
    this.before = head.digest();
    this.anchored = head.sequence;
    this.#lines = createLineFile(this.path, fsync);
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Whether the index knows the file. */
  get isAnchored(): boolean {
    return this.anchored > this.first;
  }

  /** Writes whole lines; returns when the kernel has them, or when they are on disk with `fsync: 'always'`. */
  append(lines: string): void {
    this.#lines.append(lines);
  }

  /** Calls `done` when everything written so far is on disk; not at all if fsync() fails. */
  sync(done: () => void): void {
    this.#lines.sync(done);
  }

  close(): void {
    this.#isOpen = false;
    this.#lines.close();
  }
}
