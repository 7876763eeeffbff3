import type { Backend } from '../../src/contract/backend.ts';
import type { JobSpec } from '../../src/contract/job.ts';
import { randomHex } from '../../src/support/ids.ts';

/** A backend for one test, which closes it. */
export interface OpenBackend {
  readonly backend: Backend;
  /** A folder on the machine of its worker. */
  readonly folder: string;
  /** Prepares and starts a script; returns the id of its job. */
  start(script: string, more?: Partial<JobSpec>): Promise<string>;
}

/** Returns `start` of `OpenBackend`; commands run in `cwd`. */
export function createStart(backend: Backend, cwd: string): OpenBackend['start'] {
  let count = 0;
  return async (script, more = {}) => {
    count += 1;
    // At level `group`, the processes of a command are found by its id, so files that run at the same time need different ids.
    const id = `job-${count}-${randomHex(4)}`;
    const command = { kind: 'shell', script } as const;
    await backend.prepare({ id, command, cwd, env: {}, stdin: 'empty', timeoutMs: null, ...more });
    await backend.start(id);
    return id;
  };
}
