import { join } from 'node:path';
import type { WorkerOptions } from '../../src/worker/worker-options.ts';
import { builtGuard } from './build.ts';

/** Default worker options for tests, with all folders below `folder`. */
export function workerOptionsIn(folder: string): Omit<WorkerOptions, 'table'> {
  return {
    stateDir: join(folder, 'state'),
    cwd: folder,
    home: folder,
    environment: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: folder, LANG: 'C.UTF-8' },
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
    homeShow: [],
    unprotected: [],
    ownFiles: [],
    keep: [],
    changes: 'direct',
    changesBytes: 1_073_741_824,
    changesDays: 30,
    changesFileBytes: 1_073_741_824,
    warmShells: 1,
    sessionIdleMs: 60_000,
    exec: 'off',
    execAllow: () => undefined,
    execGuard: builtGuard,
  };
}
