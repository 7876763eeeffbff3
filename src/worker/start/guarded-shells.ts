import { closeSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import type { Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { Environment } from '../machine/environment.ts';
import { type SandboxPlan, toSandboxPlan, withVisibleFolders } from '../sandbox/sandbox-plan.ts';
import type { ForkServer } from '../supervision/fork-server.ts';
import { KeeperPool } from '../supervision/keeper-pool.ts';
import { type GuardedShell, startGuardedShell } from './guarded-shell.ts';
import {
  fitsPlan,
  type SupervisedDeps,
  toDefaultPlan,
  toKeeperEnvironment,
  toLongScript,
} from './keeper-plan.ts';
import { openScript } from './start-process.ts';
import type { StartOptions } from './starter.ts';
import { needsGuard, toGuard, toStamp } from './to-guard.ts';

interface ShellOptions {
  readonly baseEnv?: Environment | undefined;
  readonly scriptFile?: number | undefined;
}

/**
 * Shells behind the guard at level `group`. The guard is a Node program, which takes a long time to start, so shells for
 * the default plan are started in advance.
 */
export class GuardedShells {
  readonly #deps: SupervisedDeps;
  readonly #forkServer: ForkServer;
  readonly #pool: KeeperPool<GuardedShell>;

  constructor(deps: SupervisedDeps, forkServer: ForkServer) {
    this.#deps = deps;
    this.#forkServer = forkServer;
    this.#pool = new KeeperPool(
      this.#defaultPlan() ? deps.warmShells : 0,
      () => this.#start(this.#defaultPlan()),
      () => toStamp(deps, this.#defaultPlan()),
    );
  }

  /** Starts the first shell in advance, if most commands need the guard. */
  async warmUp(): Promise<void> {
    if (this.#defaultPlan() && this.#deps.warmShells > 0) await this.#pool.probe();
  }

  /** Returns a shell that waits for its launch message. */
  async open(spec: JobSpec, isolation: Isolation, options: StartOptions): Promise<GuardedShell> {
    const { visibleFolders = [], baseEnv } = options;
    const script = toLongScript(spec);
    const isDefault = script === undefined && visibleFolders.length === 0 && baseEnv === undefined;
    const usual = this.#defaultPlan();
    if (isDefault && usual && fitsPlan(usual, this.#deps, isolation, spec.cwd))
      return whenReady(await this.#pool.take());
    const plan = withVisibleFolders(toSandboxPlan(this.#deps, isolation, spec.cwd), visibleFolders);
    const scriptFile = script === undefined ? undefined : openScript(this.#deps.scriptPath(spec.id), script);
    try {
      return await whenReady(await this.#start(plan, { baseEnv, scriptFile }));
    } finally {
      if (scriptFile !== undefined) closeSync(scriptFile);
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  // Found again each time: key stores and files of nacre may have appeared since, and `toStamp` compares them.
  #defaultPlan(): SandboxPlan | undefined {
    const plan = toDefaultPlan(this.#deps);
    return plan && needsGuard(this.#deps, plan) ? plan : undefined;
  }

  async #start(
    plan: SandboxPlan | undefined,
    { baseEnv = this.#deps.env, scriptFile }: ShellOptions = {},
  ): Promise<GuardedShell> {
    const { bashPath, instance, fifos, landlock } = this.#deps;
    const guard = plan && toGuard(this.#deps, plan);
    if (!guard) throw new Error('nothing is to be guarded');
    const env = toKeeperEnvironment(plan, instance, {
      baseEnv,
      atTerminal: false,
      cacheFolder: landlock?.cacheFolder,
    });
    const shell = { guard, bashPath, env, fifos: await fifos.take(4), scriptFile };
    return startGuardedShell(shell, this.#forkServer);
  }
}

// A guard that failed has not executed the shell; it prints the reason.
async function whenReady(shell: GuardedShell): Promise<GuardedShell> {
  if (await shell.ready) return shell;
  const reason = shell.readStderr().trim() || 'it ended immediately';
  await shell.discard();
  throw new NacreError(
    'isolation_unavailable',
    `The guard could not be started for this command: ${reason}`,
    {
      hint: 'Run nacre doctor to see what this machine allows. Nothing was run.',
    },
  );
}
