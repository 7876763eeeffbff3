import type { Backend } from '../contract/backend.ts';
import type { WorkerOptions } from '../worker/worker-options.ts';

/** Backends by name; each module is loaded when it is used. */
export const backends = {
  local: async (options: Omit<WorkerOptions, 'table'>): Promise<Backend> => {
    const { createLocalBackend } = await import('./local/create-local-backend.ts');
    return createLocalBackend(options);
  },
};
