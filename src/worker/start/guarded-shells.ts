import { closeSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import type { Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { ExecEnforcement } from '../exec/choose-exec-guard.ts';
import type { ExecGuard } from '../exec/exec-guard.ts';
import type { Environment } from '../machine/environment.ts';
import { type SandboxPlan, toSandboxPlan, withVisibleFolders } from '../sandbox/sandbox-plan.ts';
import type { ForkServer } from '../supervision/fork-server.ts';
import { type GuardedShell, startGuardedShell } from './guarded-shell.ts';
import {
  fitsPlan,
  type SupervisedDeps,
  toDefaultPlan,
  toKeeperEnvironment,
  toLongScript,
} from './keeper-plan.ts';
import { noReason } from './start-failures.ts';
import { openScript } from './start-process.ts';
import type { StartOptions } from './starter.ts';
import { needsGuard, toGuard, toStamp } from './to-guard.ts';
import { WarmPools } from './warm-pools.ts';

interface ShellOptions {
  readonly guard: ExecGuard | undefined;
  readonly baseEnv?: Environment | undefined;
  readonly scriptFile?: number | undefined;
}

/**
 * Shells behind the guard at level `group`. The guard takes time to start, so shells for the default plan are started in
 * advance.
 */
export class GuardedShells {
  readonly #deps: SupervisedDeps;
  readonly #forkServer: ForkServer;
  readonly #pools: WarmPools<GuardedShell>;

  constructor(deps: SupervisedDeps, forkServer: ForkServer) {
    this.#deps = deps;
    this.#forkServer = forkServer;
    this.#pools = new WarmPools({
      size: deps.warmShells,
      start: ({ guard }) => this.#start(this.#defaultPlan(guard), { guard }),
      stamp: ({ guard }) => `${forkServer.generation} ${toStamp(deps, this.#defaultPlan(guard))}`,
    });
  }

  /** Starts the first shell in advance, if most commands need the guard. */
  async warmUp({ guard }: ExecEnforcement): Promise<void> {
    if (this.#defaultPlan(guard) && this.#deps.warmShells > 0)
      await this.#pools.probe({ room: undefined, guard });
  }

  /** Returns a shell that waits for its launch message. */
  async open(spec: JobSpec, isolation: Isolation, options: StartOptions): Promise<GuardedShell> {
    const { visibleFolders = [], baseEnv, exec } = options;
    const { guard } = exec;
    const script = toLongScript(spec);
    const isDefault = script === undefined && visibleFolders.length === 0 && baseEnv === undefined;
    const usual = this.#defaultPlan(guard);
    if (isDefault && usual && fitsPlan(usual, this.#deps, isolation, spec.cwd))
      return whenReady(await this.#pools.take({ room: undefined, guard }));
    const plan = withVisibleFolders(toSandboxPlan(this.#deps, isolation, spec.cwd), visibleFolders);
    const scriptFile = script === undefined ? undefined : openScript(this.#deps.scriptPath(spec.id), script);
    try {
      return await whenReady(await this.#start(plan, { guard, baseEnv, scriptFile }));
    } finally {
      if (scriptFile !== undefined) closeSync(scriptFile);
    }
  }

  close(): Promise<void> {
    return this.#pools.closeAll();
  }

  // Computed each time: key stores and files of nacre may have appeared since, and `toStamp` compares them.
  #defaultPlan(guard: ExecGuard | undefined): SandboxPlan | undefined {
    const plan = toDefaultPlan(this.#deps);
    return plan && needsGuard(this.#deps, plan, guard) ? plan : undefined;
  }

  async #start(
    plan: SandboxPlan | undefined,
    { guard: execGuard, baseEnv = this.#deps.env, scriptFile }: ShellOptions,
  ): Promise<GuardedShell> {
    const { bashPath, instance, fifos, landlock } = this.#deps;
    const guard = plan && toGuard(this.#deps, plan, execGuard);
    if (!guard) throw new Error('the command needs no guard');
    const env = toKeeperEnvironment(plan, instance, {
      baseEnv,
      atTerminal: false,
      cacheFolder: landlock?.cacheFolder,
    });
    const shell = { guard, bashPath, env, fifos: await fifos.take(4), scriptFile };
    return startGuardedShell(shell, this.#forkServer);
  }
}

// A guard that fails does not execute the shell, and prints the reason.
async function whenReady(shell: GuardedShell): Promise<GuardedShell> {
  if (await shell.ready) return shell;
  const reason = shell.readStderr().trim() || noReason;
  await shell.discard();
  throw new NacreError(
    'isolation_unavailable',
    `The guard could not be started for this command: ${reason}`,
    {
      hint: 'Run nacre doctor to see what this machine allows. Nothing was run.',
    },
  );
}
