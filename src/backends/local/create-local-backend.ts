import type { Backend } from '../../contract/backend.ts';
import { createProcessTable } from '../../worker/processes/create-process-table.ts';
import { createWorker } from '../../worker/worker.ts';
import type { WorkerOptions } from '../../worker/worker-options.ts';

/** Creates a backend whose calls go to `createWorker` in this process. */
export function createLocalBackend(options: Omit<WorkerOptions, 'table'>): Backend {
  const worker = createWorker({ ...options, table: createProcessTable() });
  return { abilities: { killTree: 'group' }, ...worker };
}
