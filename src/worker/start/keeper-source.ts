import { closeSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import { createStopwatch } from '../../support/timing.ts';
import { changesUnavailable } from '../changes/changes-failures.ts';
import type { ExecEnforcement } from '../exec/choose-exec-guard.ts';
import { findProgram } from '../machine/inspect.ts';
import type { Room } from '../room/room.ts';
import { Rooms } from '../room/rooms.ts';
import { toLayerFolders, usualLayerFolders } from '../sandbox/layer-folders.ts';
import {
  nameInTmp,
  type SandboxPlan,
  toNetwork,
  toSandboxPlan,
  withVisibleFolders,
} from '../sandbox/sandbox-plan.ts';
import { identifyFolders } from '../sandbox/workspace.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import { openTerminal } from '../terminal/open-terminal.ts';
import { KeeperLauncher, type KeeperOptions } from './keeper-launcher.ts';
import { fitsPlan, type SupervisedDeps, toDefaultPlan, toLongScript, toProbePlan } from './keeper-plan.ts';
import { supervisionUnavailable } from './start-failures.ts';
import { openScript } from './start-process.ts';
import type { StartOptions } from './starter.ts';
import { toStamp } from './to-guard.ts';
import { WarmPools } from './warm-pools.ts';

/** Returns a ready keeper for each command: one of `WarmPools` if it fits, or else a new one. */
export class KeeperSource {
  readonly rooms: Rooms;
  readonly #supervisor: Supervisor;
  readonly #deps: SupervisedDeps;
  readonly #defaultPlan: SandboxPlan | undefined;
  /** Names in /tmp on which most commands have a mount. */
  readonly #usualNames: readonly string[];
  readonly #launcher: KeeperLauncher;
  readonly #pools: WarmPools<Keeper>;
  /** Keepers with a layer over the workspace of most commands; filled at the first use. */
  readonly #layeredPools: WarmPools<Keeper>;
  readonly #layerFolders: readonly string[];

  constructor(supervisor: Supervisor, deps: SupervisedDeps) {
    const { env, instance, isolation } = deps;
    this.#supervisor = supervisor;
    this.#deps = deps;
    this.#defaultPlan = toDefaultPlan(deps);
    const writable = this.#defaultPlan?.writable ?? [];
    this.#usualNames = [...new Set([deps.cwd, deps.roomsFolder, ...writable].flatMap(nameInTmp))];
    this.rooms = new Rooms({
      folder: deps.roomsFolder,
      bashPath: deps.bashPath,
      env: { ...env, ...instance },
      isRoot: deps.isRoot,
      networkAllow: isolation.networkAllow,
    });
    if (findProgram('nsenter', deps.path) === null)
      this.rooms.stopJoining('nsenter is missing; it is part of util-linux');
    this.#launcher = new KeeperLauncher(supervisor, deps, this.#defaultPlan ?? toProbePlan(deps), this.rooms);
    const size = this.#defaultPlan ? deps.warmShells : 0;
    this.#pools = new WarmPools({
      size,
      start: ({ room, guard }) => this.#launcher.startDefault(guard, room),
      stamp: () => this.#toStamp(),
    });
    this.#layerFolders = this.#defaultPlan ? usualLayerFolders(deps) : [];
    this.#layeredPools = new WarmPools({
      size,
      start: ({ room, guard }) =>
        this.#launcher.startDefault(guard, room, () => deps.changes.open(this.#layerFolders)),
      stamp: () => `${this.#toStamp()} ${identifyFolders(this.#layerFolders)}`,
    });
  }

  /** Whether a keeper becomes ready on this machine (`KeeperPool.probe`), if necessary without its room's network. */
  async probe({ guard }: ExecEnforcement): Promise<boolean> {
    const hasRoom = this.#defaultPlan !== undefined && this.#hasRoom(this.#defaultPlan.isolation);
    const probe = () =>
      this.#pools.probe({ room: hasRoom ? this.#prepare(this.rooms.spare) : undefined, guard });
    if (await probe()) return true;
    return hasRoom && !this.rooms.isApart && this.#withoutJoining(probe, (isReady) => isReady);
  }

  /**
   * Opens a keeper. Tries again if that fails, because a path to be hidden may vanish while the namespace is being created, and
   * because all waiting keepers die with their fork server: each attempt may find another dead one.
   */
  async open(spec: JobSpec, isolation: Isolation, options: StartOptions): Promise<Keeper> {
    const attempt = () => this.#openOnce(spec, isolation, options);
    const elapsed = createStopwatch();
    const again = (error: unknown) => {
      if (elapsed() > retryMs) throw error;
      return attempt();
    };
    try {
      return await attempt().catch(attempt).catch(again).catch(again);
    } catch (error) {
      if (!this.#hasRoom(isolation) || this.rooms.hasJoined || this.rooms.isApart) throw error;
      return this.#withoutJoining(attempt, () => true, error);
    }
  }

  /** Gaps of most commands that were found when shells were started. */
  gaps(): readonly string[] {
    const { isolation } = this.#deps;
    const isApart = this.rooms.isApart && this.#hasRoom(isolation) && toNetwork(isolation) !== 'on';
    return isApart ? [this.rooms.gap] : [];
  }

  /** Removes the room of a connection once its commands have ended. */
  async closeRoom(key: string): Promise<void> {
    const room = this.rooms.forget(key);
    if (!room) return;
    await this.#pools.close(room);
    await this.#layeredPools.close(room);
  }

  async close(): Promise<void> {
    await this.#pools.closeAll();
    await this.#layeredPools.closeAll();
    await this.#launcher.close();
    await this.rooms.close();
  }

  #toStamp(): string {
    return `${this.#launcher.generation} ${toStamp(this.#deps, this.#defaultPlan)}`;
  }

  // Another command of the room may add a mount point while this one starts; it is then started again.
  async #openOnce(spec: JobSpec, isolation: Isolation, options: StartOptions): Promise<Keeper> {
    return (await this.#openInRoom(spec, isolation, options)) ?? this.#openOnce(spec, isolation, options);
  }

  async #openInRoom(spec: JobSpec, isolation: Isolation, options: StartOptions): Promise<Keeper | undefined> {
    const { visibleFolders = [], baseEnv, exec, layered } = options;
    const { guard } = exec;
    const script = toLongScript(spec);
    const hasRoom = this.#hasRoom(isolation);
    const room = hasRoom ? this.#prepare(this.rooms.get(spec.room ?? localRoom)) : undefined;
    const isDefault =
      script === undefined && visibleFolders.length === 0 && baseEnv === undefined && !spec.terminal;
    const fits = isDefault && this.#fitsDefault(isolation, spec.cwd);
    const folders = layered && this.#toLayerFolders(isolation, spec.cwd);
    const below =
      layered?.mode === 'hold' && folders ? await this.#deps.changes.heldBy(layered.owner, folders) : [];
    const isUsual = !folders || (below.length === 0 && isDeepStrictEqual(folders, this.#layerFolders));
    if (fits && isUsual) {
      const pools = folders ? this.#layeredPools : this.#pools;
      return this.#whenReady(await pools.take({ room, guard }), room);
    }
    // Before the plan, which hides the store of the layer.
    const layer = folders && this.#deps.changes.open(folders, below);
    const plan = withVisibleFolders(toSandboxPlan(this.#deps, isolation, spec.cwd), visibleFolders);
    return this.#launch({ ...plan, layer }, spec, { script, baseEnv, room, guard });
  }

  #toLayerFolders(isolation: Isolation, cwd: string): readonly string[] {
    if (this.#supervisor.level !== 'namespace')
      throw changesUnavailable('bubblewrap does not work on this machine');
    return toLayerFolders(this.#deps, isolation, cwd);
  }

  async #launch(
    plan: SandboxPlan,
    spec: JobSpec,
    { script, ...given }: Omit<KeeperOptions, 'scriptFile' | 'terminal'> & { script: string | undefined },
  ): Promise<Keeper | undefined> {
    const terminal = spec.terminal && openTerminal(await this.#deps.loadPty(), spec.terminal);
    const scriptFile = script === undefined ? undefined : openScript(this.#deps.scriptPath(spec.id), script);
    try {
      const options = { ...given, scriptFile, terminal };
      const keeper = await this.#launcher.start(plan, options).catch((error: unknown) => {
        terminal?.discard();
        throw error;
      });
      return await this.#whenReady(keeper, given.room);
    } finally {
      if (scriptFile !== undefined) closeSync(scriptFile);
      terminal?.closeSlave();
    }
  }

  // Only bubblewrap mounts another /tmp and has a network namespace; Landlock shows those of the machine.
  #hasRoom({ sandbox }: Isolation): boolean {
    return sandbox !== 'off' && this.#supervisor.level === 'namespace';
  }

  // No command has run in a new room, so the names that most commands need can be added to its mount points.
  #prepare(room: Room): Room {
    room.addMountPoints(this.#usualNames);
    return room;
  }

  // If the attempt also fails without the room's network, that network is not the cause, so later commands try to join
  // it again.
  async #withoutJoining<T>(
    attempt: () => Promise<T>,
    isSuccess: (result: T) => boolean,
    failure?: unknown,
  ): Promise<T> {
    const reason = failure instanceof Error ? `nsenter failed: ${failure.message}` : 'nsenter failed';
    const undo = this.rooms.stopJoining(reason);
    try {
      const result = await attempt();
      if (!isSuccess(result)) undo();
      return result;
    } catch (error) {
      undo();
      throw error;
    }
  }

  #fitsDefault(isolation: Isolation, cwd: string): boolean {
    return this.#defaultPlan !== undefined && fitsPlan(this.#defaultPlan, this.#deps, isolation, cwd);
  }

  // A supervisor that is killed before `ready` may leave processes behind, so its keeper gets no launch message. Returns undefined
  // if the room no longer accepts the keeper.
  async #whenReady(keeper: Keeper, room: Room | undefined): Promise<Keeper | undefined> {
    if (await keeper.ready) {
      if (room === undefined || room.use(keeper)) return keeper;
      await keeper.discard();
      return undefined;
    }
    const printed = keeper.readStderr();
    await keeper.discard();
    throw supervisionUnavailable(this.#supervisor.level, printed);
  }
}

const retryMs = 3_000;

// The room of commands that belong to no connection, such as those of `nacre run`.
const localRoom = '';
