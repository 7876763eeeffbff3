import type { Backend } from '../contract/backend.ts';
import type { WorkerOptions } from '../worker/worker-options.ts';

/** How the detached worker is found or started. */
export interface DetachedOptions {
  readonly build: string;
  /** dist/worker.js */
  readonly program: string;
  /** False if commands run in this process where the worker cannot be started. */
  readonly isRequired: boolean;
  /** Reports that it could not be started. */
  log(line: string): void;
  readonly orphanMs: number;
  readonly tombstoneMs: number;
  /** The worker's options that are plain data, such as settings; callbacks and handles stay in this process. */
  readonly plain: Readonly<Record<string, unknown>>;
}

type LocalOptions = Omit<WorkerOptions, 'table'>;

/** Backends by name; each module is loaded when it is used. */
export const backends = {
  local: async (options: LocalOptions): Promise<Backend> => {
    const { createLocalBackend } = await import('./local/create-local-backend.ts');
    return createLocalBackend(options);
  },
  /** Background commands and persistent shells in the detached worker, everything else in this process. */
  outlive: async (options: LocalOptions, detached: DetachedOptions): Promise<Backend> => {
    const [{ createLocalBackend }, { routeJobs }, remote, { mayHaveKeptJobs }] = await Promise.all([
      import('./local/create-local-backend.ts'),
      import('./outlive/route-jobs.ts'),
      createDetached(options, detached, 'use'),
      import('../worker/host/worker-folder.ts'),
    ]);
    return routeJobs(createLocalBackend(options), remote, {
      isSandboxed: options.sandbox !== 'off',
      isRequired: detached.isRequired,
      log: detached.log,
      hasKept: () => mayHaveKeptJobs(options.stateDir),
    });
  },
  /** The commands of the detached worker, for the local user. */
  kept: async (options: LocalOptions, detached: DetachedOptions): Promise<Backend> => {
    const [remote, { mayHaveKeptJobs }] = await Promise.all([
      createDetached(options, detached, 'view'),
      import('../worker/host/worker-folder.ts'),
    ]);
    return {
      ...remote,
      environmentSecrets: async () => [],
      // `remote.takeUp` would start a worker just to find that it keeps no command.
      takeUp: async (request) => (mayHaveKeptJobs(options.stateDir) ? remote.takeUp(request) : []),
    };
  },
};

// The end of a stream on this machine means that the server is gone, or that the worker was too busy to answer; then
// the next stream is already open.
const localGraceMs = 250;

async function createDetached(options: LocalOptions, detached: DetachedOptions, mode: 'use' | 'view') {
  const [{ createRemoteBackend }, { createUnixRoad }, { workersFolder }] = await Promise.all([
    import('./remote/create-remote-backend.ts'),
    import('./remote/unix-road.ts'),
    import('../worker/host/worker-folder.ts'),
  ]);
  const { build, program, orphanMs, tombstoneMs, plain } = detached;
  const { stateDir, environment, execAllow } = options;
  const road = createUnixRoad({ root: workersFolder(stateDir), build, program, environment });
  const times = { orphanMs, tombstoneMs, graceMs: localGraceMs };
  return createRemoteBackend({ road, build, mode, ...times, execAllow, options: plain });
}
