import { rmSync } from 'node:fs';
import type { JobSpec, JobState } from '../../src/contract/job.ts';
import { createId } from '../../src/support/ids.ts';
import { createProcProcessTable } from '../../src/worker/processes/proc-process-table.ts';
import { createWorker, type Worker } from '../../src/worker/worker.ts';
import type { WorkerOptions } from '../../src/worker/worker-options.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { workerOptionsIn } from './worker-options.ts';

/** A `Worker` in a temporary folder, with shortcuts for tests. */
export interface TestWorker {
  readonly worker: Worker;
  readonly folder: string;
  start(script: string, spec?: Partial<JobSpec>): Promise<string>;
  /** Runs a script and returns its state and output at the end. */
  run(script: string, spec?: Partial<JobSpec>): Promise<{ state: JobState; stdout: string; stderr: string }>;
  output(id: string): Promise<{ stdout: string; stderr: string }>;
  close(): Promise<void>;
}

/** Makes a `TestWorker`; `options` override those of `workerOptionsIn`. */
export function createTestWorker(options: Partial<WorkerOptions> = {}): TestWorker {
  const folder = temporaryFolder();
  const worker = createWorker({
    ...workerOptionsIn(folder),
    table: createProcProcessTable(),
    ...options,
  });
  const start = async (script: string, spec: Partial<JobSpec> = {}) => {
    const id = createId('cmd');
    const command = { kind: 'shell', script } as const;
    const job = { id, command, cwd: folder, env: {}, stdin: 'empty', timeoutMs: null, ...spec } as const;
    await worker.prepare(job);
    await worker.start(job.id);
    return job.id;
  };
  const output = async (id: string) => {
    const found = { stdout: '', stderr: '' };
    const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
    for (let at = 0; ; ) {
      const { chunks, next } = await worker.read(id, at, { waitMs: 0, maxBytes: 1_000_000 });
      for (const { stream, data } of chunks) found[stream] += decoders[stream].decode(data, { stream: true });
      if (next === at) return found;
      at = next;
    }
  };
  return {
    worker,
    folder,
    start,
    output,
    async run(script, spec) {
      const id = await start(script, spec);
      const state = await worker.wait(id, 60_000);
      return { state, ...(await output(id)) };
    },
    async close() {
      await worker.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
