import { settlesWithin } from '../../support/timing.ts';
import type { Layer } from '../changes/layer.ts';
import type { ExecGuard } from '../exec/exec-guard.ts';
import type { Environment } from '../machine/environment.ts';
import { NetworkProxy } from '../network/network-proxy.ts';
import type { Room } from '../room/room.ts';
import type { RoomNetwork } from '../room/room-network.ts';
import type { Rooms } from '../room/rooms.ts';
import type { BubblewrapOptions } from '../sandbox/bubblewrap.ts';
import { keyFilter } from '../sandbox/key-filter.ts';
import { hasOwnNetwork, namesInTmp, type SandboxPlan, toNetwork } from '../sandbox/sandbox-plan.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import { ForkNamespaces } from '../supervision/fork-namespaces.ts';
import { ForkServer, heldFd, NotForkedError } from '../supervision/fork-server.ts';
import { Lifeline } from '../supervision/keeper-pool.ts';
import {
  filterFd,
  type PlainKeeperPlan,
  startKeeper,
  startWithForkServer,
} from '../supervision/start-keeper.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { OpenTerminal } from '../terminal/open-terminal.ts';
import { type SupervisedDeps, toKeeperEnvironment } from './keeper-plan.ts';
import { toGuard } from './to-guard.ts';

/** The parts of a keeper that differ from the default. */
export interface KeeperOptions {
  readonly baseEnv?: Environment | undefined;
  /** A file with a script that is too long for a launch message (`toLongScript`). */
  readonly scriptFile?: number | undefined;
  readonly terminal?: OpenTerminal | undefined;
  /** The room of a command in a sandbox. */
  readonly room?: Room | undefined;
  /** The programs that the kernel executes for the command; undefined for all. */
  readonly guard: ExecGuard | undefined;
}

/** A plan together with what its guard and its room add to it. */
interface PlanInRoom {
  readonly plan: SandboxPlan;
  readonly guard: ExecGuard | undefined;
  readonly network: RoomNetwork | undefined;
  readonly mountPoints?: readonly string[] | undefined;
  readonly gaps: readonly string[];
}

/** Starts keepers, and owns what all of them share: the `Lifeline` and the `ForkServer`. */
export class KeeperLauncher {
  readonly #supervisor: Supervisor;
  readonly #deps: SupervisedDeps;
  readonly #rooms: Rooms;
  readonly #defaultPlan: SandboxPlan;
  readonly #defaultEnv: Environment;
  readonly #lifeline: Lifeline;
  readonly #forkServer: ForkServer;
  /** A second fork server, in the network of one room, whose keepers then need no `nsenter`. */
  #inNetwork: { readonly network: RoomNetwork; readonly server: ForkServer } | undefined;
  readonly #living = new Set<Keeper>();
  readonly #namespaces = new ForkNamespaces();

  constructor(supervisor: Supervisor, deps: SupervisedDeps, defaultPlan: SandboxPlan, rooms: Rooms) {
    this.#supervisor = supervisor;
    this.#deps = deps;
    this.#rooms = rooms;
    this.#defaultPlan = defaultPlan;
    this.#defaultEnv = toKeeperEnvironment(defaultPlan, deps.instance, {
      baseEnv: deps.env,
      atTerminal: false,
      cacheFolder: deps.landlock?.cacheFolder,
    });
    this.#lifeline = new Lifeline(deps.fifos);
    this.#forkServer = this.#createForkServer();
  }

  /** Changes when waiting keepers of the fork servers become unusable (`ForkServer.generation`). */
  get generation(): string {
    return `${this.#forkServer.generation}.${this.#inNetwork?.server.generation ?? 0}`;
  }

  /**
   * Starts a keeper with the default plan and pipes; by the fork server, unless it needs a `NetworkProxy` of its own. `openLayer` is
   * called for each attempt, because a failed attempt may have mounted its layer, and a layer is mounted only once.
   */
  async startDefault(
    guard: ExecGuard | undefined,
    room?: Room | undefined,
    openLayer?: (() => Layer) | undefined,
  ): Promise<Keeper> {
    const layer = openLayer?.();
    const inRoom = await this.#enter({ ...this.#defaultPlan, layer }, guard, room);
    if (needsOwnProxy(inRoom.plan) || !this.#forkServer.isAvailable) return this.#spawn(inRoom, {});
    const { server, plan } = this.#chooseForkServer(inRoom);
    const hasNamespaces = this.#supervisor.level === 'namespace';
    const namespace = hasNamespaces ? this.#namespaces.of(plan, toGuard(this.#deps, plan, guard)) : undefined;
    const fifos = await this.#deps.fifos.take(4);
    const { bashPath } = this.#deps;
    const plain = namespace
      ? { bashPath, env: this.#defaultEnv, fifos, namespace }
      : this.#toPlainPlan({ plan, guard }, fifos);
    try {
      const keeper = this.#track(await startWithForkServer(server, plain), inRoom);
      // Not before: the fork server itself needs a FIFO, the lifeline.
      this.#deps.fifos.runWith((argv, limitMs) => this.#forkServer.run(argv, limitMs));
      if (hasNamespaces) this.#namespaces.noteStarted(keeper, namespace);
      return keeper;
    } catch (error) {
      if (!(error instanceof NotForkedError)) throw error;
      if (!namespace) return this.#spawn(inRoom, {});
      this.#namespaces.noteFailed(namespace);
      if (layer) this.#deps.changes.dropUnused(layer);
      return this.startDefault(guard, room, openLayer);
    }
  }

  /** Starts a keeper with any plan with `spawn`, as a child of this process. */
  async start(plan: SandboxPlan, { guard, room, ...options }: KeeperOptions): Promise<Keeper> {
    return this.#spawn(await this.#enter(plan, guard, room), options);
  }

  /** Resolves when all keepers are gone and the fork server is closed. */
  async close(): Promise<void> {
    await Promise.all([...this.#living].map(endWithin));
    await this.#forkServer.close();
    await this.#inNetwork?.server.close();
    await this.#lifeline.close();
  }

  async #spawn(inRoom: PlanInRoom, options: Omit<KeeperOptions, 'guard' | 'room'>): Promise<Keeper> {
    const { plan, guard } = inRoom;
    const { scriptFile, terminal, baseEnv = this.#deps.env } = options;
    const { bashPath, fifos, instance, landlock } = this.#deps;
    const atTerminal = terminal !== undefined;
    const cacheFolder = landlock?.cacheFolder;
    const { networkAllow } = plan.isolation;
    const keeper = await startKeeper({
      bashPath,
      cwd: '/',
      env: toKeeperEnvironment(plan, instance, { baseEnv, atTerminal, cacheFolder }),
      proxy: needsOwnProxy(plan) ? new NetworkProxy({ allow: networkAllow }) : undefined,
      fifos: await fifos.take(4),
      lifeline: await this.#lifeline.readEnd(),
      ...this.#toSupervisor(plan, { atTerminal }),
      guard: toGuard(this.#deps, plan, guard),
      scriptFile,
      terminal,
    });
    return this.#track(keeper, inRoom);
  }

  async #enter(
    requested: SandboxPlan,
    guard: ExecGuard | undefined,
    room: Room | undefined,
  ): Promise<PlanInRoom> {
    const plan = guard?.pinIn(requested) ?? requested;
    if (!room || plan.isolation.sandbox === 'off') return { plan, guard, network: undefined, gaps: [] };
    const isJoining = toNetwork(plan.isolation) !== 'on';
    const network = isJoining ? await this.#rooms.join(room) : undefined;
    const isTmpShared = room.addMountPoints(namesInTmp(plan));
    const { mountPoints } = room;
    const shared = {
      tmp: isTmpShared ? room.tmp : undefined,
      sharedMemory: room.sharedMemory,
      mountPoints,
      isJoined: network !== undefined,
      enter: network?.enter ?? [],
    };
    const gaps = [...(isJoining && !network ? [this.#rooms.gap] : []), ...(isTmpShared ? [] : [ownTmp])];
    const inTmp = isTmpShared ? mountPoints : undefined;
    return { plan: { ...plan, shared }, guard, network, gaps, mountPoints: inTmp };
  }

  // `nsenter` takes about a tenth of the time that a keeper takes to start. A fork server of its own for each room would
  // be a process for each connection, so only one room has it at a time: the first, which is often the only one.
  #chooseForkServer({ plan, network }: PlanInRoom): {
    readonly server: ForkServer;
    readonly plan: SandboxPlan;
  } {
    if (!network || !plan.shared || !this.#rooms.hasJoined) return { server: this.#forkServer, plan };
    this.#inNetwork ??= this.#openInNetwork(network);
    if (this.#inNetwork.network !== network) return { server: this.#forkServer, plan };
    return { server: this.#inNetwork.server, plan: { ...plan, shared: { ...plan.shared, enter: [] } } };
  }

  #openInNetwork(network: RoomNetwork): { readonly network: RoomNetwork; readonly server: ForkServer } {
    const server = this.#createForkServer(network.enter);
    network.onClose(async () => {
      this.#inNetwork = undefined;
      await server.close();
    });
    return { network, server };
  }

  #createForkServer(enter: readonly string[] = []): ForkServer {
    const { path, instance } = this.#deps;
    return new ForkServer({
      enter,
      env: { PATH: path, ...instance },
      lifeline: () => this.#lifeline.readEnd(),
    });
  }

  #toPlainPlan(
    { plan, guard }: Pick<PlanInRoom, 'plan' | 'guard'>,
    fifos: readonly string[],
  ): PlainKeeperPlan {
    const { bashPath } = this.#deps;
    return {
      ...this.#toSupervisor(plan, { heldFd }),
      bashPath,
      env: this.#defaultEnv,
      fifos,
      guard: toGuard(this.#deps, plan, guard),
    };
  }

  #toSupervisor(plan: SandboxPlan, options: BubblewrapOptions) {
    const { level, ownProcesses, toCommand } = this.#supervisor;
    const filter = level === 'namespace' ? keyFilter(plan) : undefined;
    return {
      supervisor: toCommand(plan, { ...options, filterFd: filter && filterFd }),
      hasSupervisor: true,
      ownProcesses,
      filter,
    };
  }

  #track(started: Keeper, { plan, network, gaps, mountPoints }: PlanInRoom): Keeper {
    const proxy = network?.proxy ?? started.proxy;
    const discardsTmp = plan.shared !== undefined && plan.shared.tmp === undefined;
    const { layer } = plan;
    const keeper = {
      ...started,
      proxy,
      gaps,
      mountPoints,
      discardsTmp,
      isJoined: network !== undefined,
      layer,
    };
    this.#living.add(keeper);
    if (layer) void keeper.gone.then(() => this.#deps.changes.dropUnused(layer));
    if (network) void keeper.ready.then((isReady) => isReady && this.#rooms.noteJoined());
    void keeper.gone.then(() => this.#living.delete(keeper));
    return keeper;
  }
}

// By now every command has been stopped; a remaining keeper is killed with its fork server.
async function endWithin(keeper: Keeper): Promise<void> {
  if (await settlesWithin(keeper.gone, goneMs)) return;
  keeper.end();
  await settlesWithin(keeper.gone, goneMs);
}

const goneMs = 3_000;

// In the network of a room, one proxy serves all commands.
function needsOwnProxy(plan: SandboxPlan): boolean {
  return toNetwork(plan.isolation) === 'filtered' && hasOwnNetwork(plan);
}

const ownTmp =
  'This command has a /tmp of its own: its workspace is in /tmp, and others ran without that workspace when it started.';
