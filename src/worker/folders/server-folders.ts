import { join } from 'node:path';
import { createFifoPool, type FifoPool } from '../io/fifo-pool.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { createInstanceFolder } from './instance-folder.ts';
import { createPipeFolder, type PipeFolder } from './pipe-folder.ts';

/** What one running server has in the file system: a folder for what may be long, and pipes. */
export interface ServerFolders {
  readonly path: string;
  readonly fifos: FifoPool;
  remove(): Promise<void>;
}

// To start what makes them holds up everything else, so it is done seldom.
const manyFifos = 256;

/** Makes the folders of a server, and sweeps those of dead ones. */
export async function createServerFolders(
  stateDir: string,
  memory: readonly string[],
  table: ProcessTable,
): Promise<ServerFolders> {
  const folder = await createInstanceFolder(stateDir, table);
  const pipes = createPipeFolder(folder.path, memory, table);
  const onDisk = createFifoPool(join(folder.path, 'fifos'), manyFifos);
  const fifos = pipes ? preferMemory(pipes, onDisk) : onDisk;
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

/** Takes pipes from memory as long as it has any: it may be full, and whoever logs out loses what is there. */
export function preferMemory(pipes: PipeFolder, onDisk: FifoPool, batchSize = manyFifos): FifoPool {
  const inMemory = createFifoPool(pipes.path, batchSize);
  let isOver = false;
  const takeFromMemory = async (count: number) => {
    if (isOver || !pipes.isThere()) return null;
    const names = await inMemory.take(count).catch(() => null);
    // Somebody else may have made a folder of that name, in which nothing is safe.
    return pipes.isThere() ? names : null;
  };
  return {
    async take(count) {
      const names = await takeFromMemory(count);
      isOver ||= names === null;
      return names ?? onDisk.take(count);
    },
    giveBack(names) {
      const pool = names.every((name) => name.startsWith(`${pipes.path}/`)) ? inMemory : onDisk;
      pool.giveBack(names);
    },
    async close() {
      await inMemory.close();
      await onDisk.close();
    },
  };
}
