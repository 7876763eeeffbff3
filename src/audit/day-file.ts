import { join } from 'node:path';
import { toFileName } from './audit-files.ts';
import type { ChainHead } from './chain-head.ts';
import { createLineFile, type Fsync, type LineFile } from './line-file.ts';

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
