import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { JobSpec, JobState } from '../../src/contract/job.ts';
import { createId } from '../../src/support/create-id.ts';
import { createProcProcessTable } from '../../src/worker/proc-process-table.ts';
import { createWorker, type Worker, type WorkerOptions } from '../../src/worker/worker.ts';
import { builtGuard } from './build.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** A worker in a temporary folder, with short ways to use it. */
export interface TestWorker {
  readonly worker: Worker;
  readonly folder: string;
  start(script: string, spec?: Partial<JobSpec>): Promise<string>;
  /** Runs a script to its end. */
  run(script: string, spec?: Partial<JobSpec>): Promise<{ state: JobState; stdout: string; stderr: string }>;
  output(id: string): Promise<{ stdout: string; stderr: string }>;
  close(): Promise<void>;
}

/** Makes a worker for tests. */
export function createTestWorker(options: Partial<WorkerOptions> = {}): TestWorker {
  const folder = temporaryFolder();
  const worker = createWorker({
    stateDir: join(folder, 'state'),
    cwd: folder,
    home: folder,
    environment: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' },
    table: createProcProcessTable(),
    bash: undefined,
    loginEnv: 'never',
    envPass: [],
    envWithhold: [],
    ringBytes: 1_048_576,
    spoolBytes: 268_435_456,
    spoolTotalBytes: 2_147_483_648,
    drainMs: 100,
    killGraceMs: 2_000,
    supervisionRequire: 'group',
    highestLevel: 'group',
    sandbox: 'off',
    network: 'off',
    networkAllow: [],
    processes: 'own',
    workspace: [],
    ownFiles: [],
    keep: [],
    warmShells: 1,
    sessionIdleMs: 60_000,
    exec: 'off',
    execAllow: undefined,
    execGuard: builtGuard,
    ...options,
  });
  const start = async (script: string, spec: Partial<JobSpec> = {}) => {
    const id = createId('cmd');
    const command = { kind: 'shell', script } as const;
    await worker.start({ id, command, cwd: folder, env: {}, stdin: 'empty', timeoutMs: null, ...spec });
    return spec.id ?? id;
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
