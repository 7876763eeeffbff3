import { closeSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import type { Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { Environment } from '../machine/environment.ts';
import { NetworkProxy } from '../network/network-proxy.ts';
import { type SandboxPlan, toNetwork, toSandboxPlan, withVisibleFolders } from '../sandbox/sandbox-plan.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import { ForkServer, heldFd } from '../supervision/fork-server.ts';
import { KeeperPool, Lifeline } from '../supervision/keeper-pool.ts';
import {
  type PlainKeeperPlan,
  startKeeper,
  startWithForkServer,
  toProgram,
} from '../supervision/start-keeper.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import { type OpenTerminal, openTerminal } from '../terminal/open-terminal.ts';
import {
  fitsPlan,
  type SupervisedDeps,
  toDefaultPlan,
  toKeeperEnvironment,
  toLongScript,
  toProbePlan,
} from './keeper-plan.ts';
import { openScript } from './start-process.ts';
import type { StartOptions } from './starter.ts';
import { toGuard, toStamp } from './to-guard.ts';

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
    this.#pool = new KeeperPool(
      size,
      () => this.#launcher.startDefault(),
      () => toStamp(deps, this.#defaultPlan),
    );
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

  // A supervisor killed before `ready` may leave its children behind, so such a keeper gets no launch message.
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

/** The parts of a keeper that differ from the default. */
export interface KeeperOptions {
  readonly baseEnv?: Environment | undefined;
  /** A file with a script that is too long for a launch message (`toLongScript`). */
  readonly scriptFile?: number | undefined;
  readonly terminal?: OpenTerminal | undefined;
}

/** Starts keepers, and owns what all of them share: the `Lifeline` and the `ForkServer`. */
export class KeeperLauncher {
  readonly #supervisor: Supervisor;
  readonly #deps: SupervisedDeps;
  readonly #defaultPlan: SandboxPlan;
  readonly #defaultEnv: Environment;
  readonly #lifeline: Lifeline;
  readonly #forkServer: ForkServer;
  readonly #living = new Set<Keeper>();

  constructor(supervisor: Supervisor, deps: SupervisedDeps, defaultPlan: SandboxPlan) {
    this.#supervisor = supervisor;
    this.#deps = deps;
    this.#defaultPlan = defaultPlan;
    this.#defaultEnv = toKeeperEnvironment(defaultPlan, deps.instance, {
      baseEnv: deps.env,
      atTerminal: false,
      cacheFolder: deps.landlock?.cacheFolder,
    });
    this.#lifeline = new Lifeline(deps.fifos);
    this.#forkServer = new ForkServer({
      bashPath: deps.bashPath,
      env: toProgram(this.#toPlainPlan([]), []).env,
      lifeline: () => this.#lifeline.readEnd(),
    });
  }

  /** Starts a keeper with the default plan and pipes; by the fork server if the network needs no `NetworkProxy`. */
  async startDefault(): Promise<Keeper> {
    if (toNetwork(this.#defaultPlan.isolation) === 'filtered') return this.start(this.#defaultPlan);
    const plan = this.#toPlainPlan(await this.#deps.fifos.take(4));
    return this.#track(await startWithForkServer(this.#forkServer, plan));
  }

  /** Starts a keeper with any plan with `spawn`, as a child of this process. */
  async start(plan: SandboxPlan, options: KeeperOptions = {}): Promise<Keeper> {
    const { scriptFile, terminal, baseEnv = this.#deps.env } = options;
    const { bashPath, fifos, instance, landlock } = this.#deps;
    const atTerminal = terminal !== undefined;
    const cacheFolder = landlock?.cacheFolder;
    const { networkAllow } = plan.isolation;
    const isFiltered = toNetwork(plan.isolation) === 'filtered';
    const keeper = await startKeeper({
      bashPath,
      cwd: '/',
      env: toKeeperEnvironment(plan, instance, { baseEnv, atTerminal, cacheFolder }),
      proxy: isFiltered ? new NetworkProxy({ allow: networkAllow }) : undefined,
      fifos: await fifos.take(4),
      lifeline: await this.#lifeline.readEnd(),
      supervisor: this.#supervisor.toCommand(this.#guarded(plan), { atTerminal }),
      guard: toGuard(this.#deps, plan),
      scriptFile,
      terminal,
    });
    return this.#track(keeper);
  }

  /** Resolves when all keepers are gone and the fork server is closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#living].map((keeper) => keeper.gone));
    await this.#forkServer.close();
    await this.#lifeline.close();
  }

  #toPlainPlan(fifos: readonly string[]): PlainKeeperPlan {
    const { bashPath } = this.#deps;
    const supervisor = this.#supervisor.toCommand(this.#guarded(this.#defaultPlan), { heldFd });
    return {
      supervisor,
      bashPath,
      env: this.#defaultEnv,
      fifos,
      guard: toGuard(this.#deps, this.#defaultPlan),
    };
  }

  #guarded(plan: SandboxPlan): SandboxPlan {
    return this.#deps.execEnforcement.guard?.pinIn(plan) ?? plan;
  }

  #track(keeper: Keeper): Keeper {
    this.#living.add(keeper);
    void keeper.gone.then(() => this.#living.delete(keeper));
    return keeper;
  }
}
