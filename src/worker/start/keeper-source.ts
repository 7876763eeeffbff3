import { closeSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import type { Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import { type SandboxPlan, toSandboxPlan, withVisibleFolders } from '../sandbox/sandbox-plan.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import { KeeperPool } from '../supervision/keeper-pool.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import { openTerminal } from '../terminal/open-terminal.ts';
import { KeeperLauncher } from './keeper-launcher.ts';
import { openScript } from './start-process.ts';
import type { StartOptions } from './starter.ts';
import {
  fitsPlan,
  type SupervisedDeps,
  toDefaultPlan,
  toLongScript,
  toProbePlan,
} from './supervised-plan.ts';

/** Returns a ready keeper for each command: one of the `KeeperPool` if it fits, or else a new one. */
export class KeeperSource {
  readonly #supervisor: Supervisor;
  readonly #deps: SupervisedDeps;
  readonly #defaultPlan: SandboxPlan | undefined;
  readonly #launcher: KeeperLauncher;
  readonly #pool: KeeperPool;

  constructor(supervisor: Supervisor, deps: SupervisedDeps) {
    this.#supervisor = supervisor;
    this.#deps = deps;
    this.#defaultPlan = toDefaultPlan(deps);
    this.#launcher = new KeeperLauncher(supervisor, deps, this.#defaultPlan ?? toProbePlan(deps));
    const size = this.#defaultPlan ? deps.warmShells : 0;
    this.#pool = new KeeperPool(size, () => this.#launcher.startDefault());
  }

  /** Whether a keeper becomes ready on this machine (`KeeperPool.probe`). */
  probe(): Promise<boolean> {
    return this.#pool.probe();
  }

  /** Opens a keeper; tries twice, because a path to be hidden may vanish while the namespace is being created. */
  open(spec: JobSpec, isolation: Isolation, options: StartOptions): Promise<Keeper> {
    return this.#openOnce(spec, isolation, options).catch(() => this.#openOnce(spec, isolation, options));
  }

  async close(): Promise<void> {
    await this.#pool.close();
    await this.#launcher.close();
  }

  async #openOnce(spec: JobSpec, isolation: Isolation, options: StartOptions): Promise<Keeper> {
    const { visibleFolders = [], baseEnv } = options;
    const script = toLongScript(spec);
    const isDefault =
      script === undefined && visibleFolders.length === 0 && baseEnv === undefined && !spec.terminal;
    if (isDefault && this.#fitsDefault(isolation, spec.cwd)) return this.#whenReady(await this.#pool.take());
    const plan = withVisibleFolders(toSandboxPlan(this.#deps, isolation, spec.cwd), visibleFolders);
    return this.#launch(plan, spec, { script, baseEnv });
  }

  async #launch(
    plan: SandboxPlan,
    spec: JobSpec,
    { script, baseEnv }: Pick<StartOptions, 'baseEnv'> & { readonly script: string | undefined },
  ): Promise<Keeper> {
    const terminal = spec.terminal && openTerminal(await this.#deps.loadPty(), spec.terminal);
    const scriptFile = script === undefined ? undefined : openScript(this.#deps.scriptPath(spec.id), script);
    try {
      const options = { scriptFile, terminal, baseEnv };
      const keeper = await this.#launcher.start(plan, options).catch((error: unknown) => {
        terminal?.discard();
        throw error;
      });
      return await this.#whenReady(keeper);
    } finally {
      if (scriptFile !== undefined) closeSync(scriptFile);
      terminal?.closeSlave();
    }
  }

  #fitsDefault(isolation: Isolation, cwd: string): boolean {
    return this.#defaultPlan !== undefined && fitsPlan(this.#defaultPlan, this.#deps, isolation, cwd);
  }

  // A supervisor killed before `ready` may leave its children behind, so such a keeper gets no order.
  async #whenReady(keeper: Keeper): Promise<Keeper> {
    if (await keeper.ready) return keeper;
    const reason = keeper.readStderr().trim() || 'it ended immediately';
    await keeper.discard();
    throw new NacreError(
      'isolation_unavailable',
      `Supervision at level ${this.#supervisor.level} could not be started for this command: ${reason}`,
      { hint: 'Run nacre doctor to see what this machine allows. Nothing was run.' },
    );
  }
}
