import { join } from 'node:path';
import { createFifoPool, type FifoPool } from '../io/fifo-pool.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { createInstanceFolder } from './instance-folder.ts';
import { createPipeFolder, type PipeFolder } from './pipe-folder.ts';

/** The folders of one running server: `path` for spools and long scripts, and a pool of FIFOs. */
export interface ServerFolders {
  readonly path: string;
  readonly fifos: FifoPool;
  remove(): Promise<void>;
}

// Spawning `mkfifo` blocks the event loop for milliseconds, so it is called rarely.
const fifoBatch = 256;

/** Creates the folders of a server, and removes those of dead servers. */
export async function createServerFolders(
  stateDir: string,
  memoryFolders: readonly string[],
  table: ProcessTable,
): Promise<ServerFolders> {
  const folder = await createInstanceFolder(stateDir, table);
  const pipes = createPipeFolder(folder.path, memoryFolders, table);
  const onDisk = createFifoPool(join(folder.path, 'fifos'), fifoBatch);
  const fifos = pipes ? new MemoryFirstFifoPool(pipes, onDisk) : onDisk;
  return {
    path: folder.path,
    fifos,
    async remove() {
      await fifos.close();
      await pipes?.remove();
      await folder.remove();
    },
  };
}

/** Takes FIFOs from memory until that fails: tmpfs may be full, and a logout may remove XDG_RUNTIME_DIR. */
class MemoryFirstFifoPool implements FifoPool {
  readonly #pipes: PipeFolder;
  readonly #inMemory: FifoPool;
  readonly #onDisk: FifoPool;
  #hasFailed = false;

  constructor(pipes: PipeFolder, onDisk: FifoPool) {
    this.#pipes = pipes;
    this.#inMemory = createFifoPool(pipes.path, fifoBatch);
    this.#onDisk = onDisk;
  }

  async take(count: number): Promise<readonly string[]> {
    const names = await this.#takeFromMemory(count);
    this.#hasFailed ||= names === null;
    return names ?? this.#onDisk.take(count);
  }

  release(names: readonly string[]): void {
    const isInMemory = names.every((name) => name.startsWith(`${this.#pipes.path}/`));
    (isInMemory ? this.#inMemory : this.#onDisk).release(names);
  }

  async close(): Promise<void> {
    await this.#inMemory.close();
    await this.#onDisk.close();
  }

  async #takeFromMemory(count: number): Promise<readonly string[] | null> {
    if (this.#hasFailed || !this.#pipes.exists()) return null;
    const names = await this.#inMemory.take(count).catch(() => null);
    // Another process may have created a folder of that name meanwhile, in which names cannot be trusted.
    return this.#pipes.exists() ? names : null;
  }
}
