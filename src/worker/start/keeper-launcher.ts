import type { Environment } from '../machine/environment.ts';
import { NetworkProxy } from '../network/network-proxy.ts';
import type { SandboxPlan } from '../sandbox/sandbox-plan.ts';
import { toNetwork } from '../sandbox/to-network.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import { Lifeline } from '../supervision/lifeline.ts';
import { heldFd, Nursery } from '../supervision/nursery.ts';
import { type PlainKeeperPlan, startInNursery, startKeeper, toProgram } from '../supervision/start-keeper.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { OpenTerminal } from '../terminal/open-terminal.ts';
import { type SupervisedDeps, toKeeperEnvironment } from './supervised-plan.ts';

/** The parts of a keeper that differ from the default. */
export interface KeeperOptions {
  readonly baseEnv?: Environment | undefined;
  /** A file with a script that is too long for an order (`toLongScript`). */
  readonly scriptFile?: number | undefined;
  readonly terminal?: OpenTerminal | undefined;
}

/** Starts keepers, and owns what all of them share: the `Lifeline` and the `Nursery`. */
export class KeeperLauncher {
  readonly #supervisor: Supervisor;
  readonly #deps: SupervisedDeps;
  readonly #defaultPlan: SandboxPlan;
  readonly #defaultEnv: Environment;
  readonly #lifeline: Lifeline;
  readonly #nursery: Nursery;
  readonly #living = new Set<Keeper>();

  constructor(supervisor: Supervisor, deps: SupervisedDeps, defaultPlan: SandboxPlan) {
    this.#supervisor = supervisor;
    this.#deps = deps;
    this.#defaultPlan = defaultPlan;
    this.#defaultEnv = toKeeperEnvironment(defaultPlan, deps.instance, {
      baseEnv: deps.env,
      atTerminal: false,
    });
    this.#lifeline = new Lifeline(deps.fifos);
    this.#nursery = new Nursery({
      bashPath: deps.bashPath,
      env: toProgram(this.#toPlainPlan([]), []).env,
      lifeline: () => this.#lifeline.readEnd(),
    });
  }

  /** Starts a keeper with the default plan and pipes, in the nursery if the network needs no `NetworkProxy`. */
  async startDefault(): Promise<Keeper> {
    if (toNetwork(this.#defaultPlan.isolation) === 'filtered') return this.start(this.#defaultPlan);
    const plan = this.#toPlainPlan(await this.#deps.fifos.take(4));
    return this.#track(await startInNursery(this.#nursery, plan));
  }

  /** Starts a keeper with any plan with `spawn`, as a child of this process. */
  async start(plan: SandboxPlan, options: KeeperOptions = {}): Promise<Keeper> {
    const { scriptFile, terminal, baseEnv = this.#deps.env } = options;
    const { bashPath, fifos, instance, execEnforcement } = this.#deps;
    const { networkAllow } = plan.isolation;
    const isFiltered = toNetwork(plan.isolation) === 'filtered';
    const keeper = await startKeeper({
      bashPath,
      cwd: '/',
      env: toKeeperEnvironment(plan, instance, { baseEnv, atTerminal: terminal !== undefined }),
      proxy: isFiltered ? new NetworkProxy({ allow: networkAllow }) : undefined,
      fifos: await fifos.take(4),
      lifeline: await this.#lifeline.readEnd(),
      supervisor: this.#supervisor.toCommand(this.#guarded(plan), { atTerminal: terminal !== undefined }),
      guard: execEnforcement.guard,
      scriptFile,
      terminal,
    });
    return this.#track(keeper);
  }

  /** Resolves when all keepers are gone and the nursery is closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#living].map((keeper) => keeper.gone));
    await this.#nursery.close();
    await this.#lifeline.close();
  }

  #toPlainPlan(fifos: readonly string[]): PlainKeeperPlan {
    const { bashPath, execEnforcement } = this.#deps;
    const supervisor = this.#supervisor.toCommand(this.#guarded(this.#defaultPlan), { heldFd });
    return { supervisor, bashPath, env: this.#defaultEnv, fifos, guard: execEnforcement.guard };
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
