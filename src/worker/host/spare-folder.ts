import { closeSync, existsSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { randomHex } from '../../support/ids.ts';
import { useOwnFolder } from '../folders/use-own-folder.ts';
import { type KeptSpec, specName, writeSpec } from './kept-job.ts';

interface Spare {
  readonly path: string;
  /** The open file for its spec. */
  readonly fd: number;
}

// The delay after a start, so that creating the next folder does not delay the answer.
const refillMs = 5;

/**
 * A folder that is created in advance for the next command, because creating one takes longer than everything else that is
 * recorded before a start.
 */
export class SpareFolder {
  readonly #root: string;
  #spare: Spare | null = null;
  #refilling: NodeJS.Timeout | undefined;

  /** `root` is on the same file system as the folders of commands. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Creates the folder of a command with its spec. */
  write(folder: string, spec: KeptSpec): void {
    const spare = this.#spare;
    this.#spare = null;
    this.#refilling ??= setTimeout(() => this.#refill(), refillMs).unref();
    if (!spare || !use(spare, folder, spec)) useOwnFolder(folder, () => writeSpec(folder, spec));
  }

  close(): void {
    clearTimeout(this.#refilling);
    if (this.#spare) closeSync(this.#spare.fd);
    this.#spare = null;
    rmSync(this.#root, { recursive: true, force: true });
  }

  // A failure, such as a full disk, is reported by the next `writeSpec`.
  #refill(): void {
    this.#refilling = undefined;
    try {
      const path = join(this.#root, randomHex(8));
      // Does not use `recursive`, which would recreate the folder of a worker after it was removed.
      if (!existsSync(this.#root)) mkdirSync(this.#root, { mode: 0o700 });
      mkdirSync(path, { mode: 0o700 });
      this.#spare ??= { path, fd: openSync(join(path, specName), 'wx', 0o600) };
    } catch {}
  }
}

// Writes the spec and renames the folder; returns false if that fails, for example on a full disk.
function use({ path, fd }: Spare, folder: string, spec: KeptSpec): boolean {
  try {
    const text = Buffer.from(JSON.stringify(spec));
    const isWhole = writeSync(fd, text) === text.length;
    if (isWhole) renameSync(path, folder);
    return isWhole;
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}
