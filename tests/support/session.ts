import { expect } from 'vitest';
import type { JobSpec, JobState } from '../../src/contract/job.ts';
import { createStopwatch, sleep } from '../../src/support/timing.ts';
import type { WorkerOptions } from '../../src/worker/worker-options.ts';
import { processesWith } from './processes.ts';
import { createTestWorker, type TestWorker } from './worker.ts';

/** How a command in a persistent shell ended. */
export interface Said {
  readonly stdout: string;
  readonly stderr: string;
  readonly status: JobState['status'];
  readonly code: number | null | undefined;
  readonly end: JobState['end'];
}

/** A worker with one persistent shell, `main`. */
export interface TestSession extends TestWorker {
  /** The directory that a command without `cwd` gets. */
  directory(): Promise<string>;
  /** Runs a script in the session. */
  say(script: string, spec?: Partial<JobSpec>): Promise<Said>;
  /** Closes the worker and waits until none of its processes is left. */
  closeCompletely(): Promise<void>;
}

/** Makes a session for tests. */
export function createTestSession(options: Partial<WorkerOptions> = {}): TestSession {
  const here = createTestWorker({ killGraceMs: 300, ...options });
  const directory = async () => {
    const query = { cwd: undefined, roots: [], programs: [], session: 'main' };
    return (await here.worker.inspect(query)).cwd.path ?? '/';
  };
  return {
    ...here,
    directory,
    async say(script, spec = {}) {
      const cwd = await directory();
      const { state, stdout, stderr } = await here.run(script, {
        ...{ session: 'main', cwd, timeoutMs: 20_000 },
        ...spec,
      });
      return { stdout, stderr, status: state.status, code: state.end?.exitCode, end: state.end };
    },
    async closeCompletely() {
      await here.close();
      // Not `expect.poll`, which concurrent tests cannot call from here.
      const elapsed = createStopwatch();
      while (processesWith(`HOME=${here.folder}`).length > 0 && elapsed() < 20_000) await sleep(20);
      expect(processesWith(`HOME=${here.folder}`)).toEqual([]);
    },
  };
}
