import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { OutputHooks } from '../io/capture.ts';
import { type FifoPool, openReaders, tryOpenWriter, unlinkIfPresent } from '../io/fifo-pool.ts';

/** The FIFOs for stdout and stderr of one command, which its shell opens by name. */
export interface ShellOutputs {
  readonly stdout: number;
  readonly stderr: number;
  /** Names of the FIFOs in the session's folder, for `ShellRequest`. */
  readonly names: { readonly stdout: string; readonly stderr: string };
  readonly hooks: OutputHooks;
  /** Closes the writing ends that `beforePolling` opened, once the shell has opened its own. */
  closeWriters(): void;
}

interface FifoPair {
  readonly paths: readonly [string, string];
  readonly ends: readonly [number, number];
  /** Compared with `stat` of the paths, to which a command may have moved other files. */
  readonly inodes: readonly [number, number];
}

/**
 * Provides a pair of FIFOs for each command in turn. A pair that reached EOF is open nowhere else, so it is reused as it
 * is: most commands then open and close no FIFO on our side.
 */
export class OutputPool {
  readonly #fifos: FifoPool;
  #kept: FifoPair | null = null;

  constructor(fifos: FifoPool) {
    this.#fifos = fifos;
  }

  /** True when `#kept` can be reused: its names are in place and nothing was written to it. Drops it otherwise. */
  checkKept(): boolean {
    if (this.#kept === null) return false;
    if (isInPlace(this.#kept) && isEmpty(this.#kept)) return true;
    this.#dropKept();
    return false;
  }

  /** Returns `#kept`, unchecked, or a new pair. */
  async acquire(): Promise<ShellOutputs> {
    const pair = this.#kept ?? (await this.#open());
    if (pair === this.#kept) this.#kept = null;
    return toOutputs(pair, { keep: () => this.#keep(pair), release: () => this.#release(pair) });
  }

  /** Closes `#kept`, and waits until no FIFO is being made. */
  async close(): Promise<void> {
    this.#dropKept();
    await this.#fifos.close();
  }

  async #open(): Promise<FifoPair> {
    const [out = '', err = ''] = await this.#fifos.take(2);
    const ends = openReaders(out, err);
    return { paths: [out, err], ends, inodes: [fstatSync(ends[0]).ino, fstatSync(ends[1]).ino] };
  }

  #keep(pair: FifoPair): void {
    if (this.#kept) discard(pair);
    else this.#kept = pair;
  }

  #release(pair: FifoPair): void {
    if (isInPlace(pair)) this.#fifos.release(pair.paths);
  }

  #dropKept(): void {
    if (this.#kept) discard(this.#kept);
    this.#kept = null;
  }
}

function toOutputs(
  { paths, ends }: FifoPair,
  pool: { readonly keep: () => void; readonly release: () => void },
): ShellOutputs {
  const [stdout, stderr] = ends;
  const writers: number[] = [];
  const unpolled: number[] = [];
  let writersClosed = false;
  const hooks: OutputHooks = {
    beforePolling(end) {
      if (!writersClosed) writers.push(...tryOpenWriter(paths[ends.indexOf(end)] ?? ''));
    },
    reclaim: (end) => void unpolled.push(end),
    onDrained(atEnd) {
      if (atEnd && unpolled.length === ends.length) return pool.keep();
      closeAll(unpolled);
      if (atEnd) pool.release();
      else for (const path of paths) unlinkIfPresent(path);
    },
  };
  return {
    stdout,
    stderr,
    names: { stdout: basename(paths[0]), stderr: basename(paths[1]) },
    hooks,
    closeWriters() {
      writersClosed = true;
      closeAll(writers.splice(0));
    },
  };
}

// A command may `rm` the name of its FIFO, or put another file there.
function isInPlace({ paths, inodes }: FifoPair): boolean {
  try {
    return paths.every((path, index) => statSync(path).ino === inodes[index]);
  } catch {
    return false;
  }
}

// A background process of an earlier command may know the names; its output must not reach the next command.
function isEmpty({ ends }: FifoPair): boolean {
  return ends.every((end) => tryReadByte(end) === 0);
}

/** The count of `read(2)`: 0 at EOF; null when it fails, as with EAGAIN while there is a writer. */
function tryReadByte(end: number): number | null {
  try {
    return readSync(end, oneByte);
  } catch {
    return null;
  }
}

const oneByte = Buffer.alloc(1);

function discard({ paths, ends }: FifoPair): void {
  closeAll(ends);
  for (const path of paths) unlinkIfPresent(path);
}

function closeAll(descriptors: readonly number[]): void {
  for (const fd of descriptors) closeSync(fd);
}
