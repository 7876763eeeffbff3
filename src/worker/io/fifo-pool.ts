import { execFile } from 'node:child_process';
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NacreError } from '../../contract/failure.ts';
import { makeFolder } from '../../support/make-folder.ts';

const run = promisify(execFile);
const lowWater = 16;

/**
 * FIFOs for commands. Node's own pipes are socket pairs, on which `tee /dev/stderr` and `> /dev/stdout` fail, and Node
 * cannot create FIFOs, so `mkfifo` creates them in batches ahead of need. A FIFO that a surviving process may still have
 * open is never reused.
 */
export interface FifoPool {
  /** Returns the names of fresh FIFOs; the caller opens and unlinks them (see `fifo.ts`). */
  take(count: number): Promise<readonly string[]>;
  /** Puts back FIFOs that no process has open and whose names still exist. */
  release(names: readonly string[]): void;
  /** Resolves when no FIFO is being created any more. */
  close(): Promise<void>;
}

/** Makes a pool that creates its FIFOs in `folder`, `batchSize` at a time. */
export function createFifoPool(folder: string, batchSize = 128, mkfifo = 'mkfifo'): FifoPool {
  return new FolderFifoPool(folder, batchSize, mkfifo);
}

class FolderFifoPool implements FifoPool {
  readonly #folder: string;
  readonly #batchSize: number;
  readonly #mkfifo: string;
  #names: string[] = [];
  #created = 0;
  #refilling: Promise<void> | null = null;

  constructor(folder: string, batchSize: number, mkfifo: string) {
    this.#folder = folder;
    this.#batchSize = batchSize;
    this.#mkfifo = mkfifo;
  }

  async take(count: number): Promise<readonly string[]> {
    // If the folder was deleted, none of `#names` exists any more.
    if (this.#names[0] !== undefined && !existsSync(this.#names[0])) this.#names = [];
    while (this.#names.length < count) await this.#refillOnce();
    const taken = this.#names.splice(0, count);
    if (this.#names.length < lowWater) this.#refillOnce().catch(() => {});
    return taken;
  }

  release(names: readonly string[]): void {
    this.#names.unshift(...names);
  }

  async close(): Promise<void> {
    await this.#refilling?.catch(() => {});
  }

  #refillOnce(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = null;
    });
    return this.#refilling;
  }

  async #refill(): Promise<void> {
    const names = Array.from({ length: this.#batchSize }, () =>
      join(this.#folder, `fifo-${this.#created++}`),
    );
    await createFifos(this.#mkfifo, this.#folder, names);
    this.#names.push(...names);
  }
}

async function createFifos(mkfifo: string, folder: string, names: readonly string[]): Promise<void> {
  try {
    makeFolder(folder);
    await run(mkfifo, ['-m', '600', ...names]);
  } catch (cause) {
    for (const name of names) if (isFifo(name)) rmSync(name);
    const reason = cause instanceof Error ? cause.message.trim().split('\n').at(-1) : String(cause);
    throw new NacreError('resources_unavailable', `Cannot create pipes in ${folder}: ${reason}`, {
      hint: 'Free some space there, or set state_dir to a folder on a local file system.',
      cause,
    });
  }
}

function isFifo(path: string): boolean {
  try {
    return lstatSync(path).isFIFO();
  } catch {
    return false;
  }
}
