import { NacreError } from '../../contract/failure.ts';
import type { Enforcement, Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import { settlesWithin } from '../../support/timing.ts';
import type { ChangingCommand, FinishedChanges } from '../changes/changes-store.ts';
import type { Layer } from '../changes/layer.ts';
import { type ExecEnforcement, execGaps, toExecState } from '../exec/choose-exec-guard.ts';
import { byEnforcement } from '../exec/exec-enforcer.ts';
import { writeAtomically } from '../io/command-input.ts';
import type { AppliedLimits } from '../limits/limit-enforcer.ts';
import { hasConnection } from '../observe/listening-ports.ts';
import { keepGaps } from '../processes/kept-daemons.ts';
import type { TreeView } from '../processes/process-tree.ts';
import type { Rooms } from '../room/rooms.ts';
import { landlockGaps, landlockHidesOwnFiles } from '../sandbox/landlock-sandbox.ts';
import { tightenIsolation } from '../sandbox/workspace.ts';
import { findWaitingShell } from '../supervision/find-waiting-shell.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import { NamespaceTree } from '../supervision/namespace-tree.ts';
import { type Supervisor, toEnforcement } from '../supervision/supervisor.ts';
import { type SupervisedDeps, toJobLaunchMessage } from './keeper-plan.ts';
import { KeeperSource } from './keeper-source.ts';
import { checkStart, startUnavailable } from './start-failures.ts';
import type { StartedProcess } from './start-process.ts';
import type { JobLayer, Started, Starter, StartOptions } from './starter.ts';
import { toDeniedPrograms } from './to-guard.ts';
import { noteOnStack } from './to-layered.ts';

/**
 * Starts each command in a pid namespace that dies with the server.
 * 1. `KeeperSource` returns a keeper that was started in advance, or starts one,
 * 2. the keeper's waiting shell gets its launch message: directory, variables, stdin and script,
 * 3. the keeper reports when that shell has ended; then its namespace is ended.
 */
export class SupervisedStarter implements Starter {
  readonly level: Enforcement['level'];
  readonly hidesOwnFiles: boolean;
  readonly #supervisor: Supervisor;
  readonly #deps: SupervisedDeps;
  readonly #keepers: KeeperSource;
  /** The gaps with the isolation of the settings. */
  readonly #usualGaps: (exec: ExecEnforcement) => readonly string[];

  constructor(supervisor: Supervisor, deps: SupervisedDeps) {
    this.#supervisor = supervisor;
    this.#deps = deps;
    this.#keepers = new KeeperSource(supervisor, deps);
    this.level = supervisor.level;
    this.#usualGaps = byEnforcement((exec) => this.#gapsFor(deps.isolation, exec));
    this.hidesOwnFiles =
      supervisor.level === 'namespace'
        ? // Without a sandbox, root keeps CAP_SYS_ADMIN and could unmount the mounts that hide nacre's own files.
          !deps.isRoot || deps.isolation.sandbox !== 'off'
        : landlockHidesOwnFiles(deps.isolation);
  }

  get rooms(): Rooms {
    return this.#keepers.rooms;
  }

  waitsForLaunchMessage(): boolean {
    return true;
  }

  gaps(exec: ExecEnforcement): readonly string[] {
    return [...this.#usualGaps(exec), ...this.#keepers.gaps()];
  }

  probe(exec: ExecEnforcement): Promise<boolean> {
    return this.#keepers.probe(exec);
  }

  async start(spec: JobSpec, options: StartOptions): Promise<Started> {
    const { exec } = options;
    const isolation = tightenIsolation(this.#deps.isolation, spec.isolation);
    checkStart(spec.command, spec.cwd, this.#deps.path);
    const applied = this.#deps.limitEnforcer.apply({
      id: spec.id,
      asked: spec.limits,
      hasNamespace: true,
      cannotRaiseLimits: isolation.sandbox !== 'off',
      entry: 'caller',
    });
    const keeper = await this.#keepers.open(spec, isolation, options).catch((error: unknown) => {
      applied.discard();
      throw error instanceof NacreError ? error : startUnavailable('the command', error);
    });
    await this.#enterCgroup(keeper, applied);
    const limits = applied.toPrelude(keeper.ownProcesses);
    const prelude = options.layered ? this.#deps.changes.addLimit(limits) : limits;
    const process = sendSetUp(keeper, spec, prelude);
    const tree = new NamespaceTree(keeper, this.#deps.table);
    return {
      process,
      tree,
      deniedPrograms: toDeniedPrograms(this.#deps, exec.guard),
      protectedUse: this.#deps.protection.watch(isolation, spec.cwd, this.level === 'namespace'),
      enforcement: this.#toEnforcement(isolation, exec, keeper, applied.gaps),
      deniedHosts: keeper.proxy?.watchDenied({
        gone: keeper.gone,
        hasConnection: async (port) => hasConnection(pidsOf(await tree.sample()), port),
      }),
      watch: applied.watch({ tree, endedCpuMs: keeper.endedCpuMs }),
      layer: options.layered && this.#toJobLayer(keeper, tree, options.layered),
    };
  }

  #toJobLayer({ layer }: Keeper, tree: NamespaceTree, command: ChangingCommand): JobLayer | undefined {
    const { changes } = this.#deps;
    return (
      layer && {
        note: noteOnStack(layer.onTopOf),
        begin: () => changes.begin(layer, command.id),
        finish: (isTooLarge) =>
          this.#finishLayer(layer, tree, isTooLarge ? { ...command, mode: 'hold' } : command).finally(() =>
            layer.done.resolve(),
          ),
      }
    );
  }

  async #finishLayer(
    layer: Layer,
    tree: NamespaceTree,
    command: ChangingCommand,
  ): Promise<FinishedChanges | undefined> {
    const { changes } = this.#deps;
    if (changes.dropUnchanged(layer)) return undefined;
    // A process of the command could still write to the layer.
    tree.release();
    if (!(await tree.emptied(goneMs))) throw stillRunningInLayer(command.id);
    // The next held command mounts this layer again; some kernels refuse that while it is mounted here.
    if (command.mode === 'hold') await settlesWithin(tree.finished, goneMs);
    return changes.finish(layer, command);
  }

  closeRoom(key: string): Promise<void> {
    return this.#keepers.closeRoom(key);
  }

  close(): Promise<void> {
    return this.#keepers.close();
  }

  // Only the command's shell enters: the OOM killer must not kill the keeper when the cgroup is out of memory.
  async #enterCgroup(keeper: Keeper, { group, discard: drop }: AppliedLimits): Promise<void> {
    if (group === null) return;
    try {
      const shell = await findWaitingShell(keeper);
      if (shell === null) throw new Error('its shell was not found');
      group.enter(shell);
    } catch (error) {
      await keeper.discard();
      drop();
      throw startUnavailable('the command', error);
    }
  }

  #toEnforcement(
    isolation: Isolation,
    exec: ExecEnforcement,
    { gaps = [], discardsTmp }: Keeper,
    moreGaps: readonly string[],
  ): Enforcement {
    const isUsual = isolation.sandbox === this.#deps.isolation.sandbox;
    return toEnforcement(this.level, isolation, {
      setuid: exec.guard === undefined && this.#supervisor.keepsSetuid(this.#deps),
      exec: toExecState(exec),
      ...(discardsTmp && { discardsTmp }),
      gaps: [...(isUsual ? this.#usualGaps(exec) : this.#gapsFor(isolation, exec)), ...moreGaps, ...gaps],
    });
  }

  #gapsFor(isolation: Isolation, exec: ExecEnforcement): readonly string[] {
    const { landlock } = this.#deps;
    return [
      ...(landlock && isolation.sandbox !== 'off'
        ? landlockGaps(landlock, this.#deps, isolation, this.level)
        : this.#supervisor.gaps(this.#deps, isolation)),
      ...keepGaps(this.#deps.keep),
      ...execGaps(exec, this.level),
    ];
  }
}

const goneMs = 10_000;

function stillRunningInLayer(id: string): NacreError {
  return new NacreError(
    'resources_unavailable',
    `A process of ${id} survived SIGKILL, so its changes were not applied.`,
    { hint: 'Restart nacre when the process is gone; its changes are then held.' },
  );
}

function pidsOf({ commandProcesses }: TreeView): readonly number[] {
  return commandProcesses.map(({ pid }) => pid);
}

// `setUp` is sent immediately, so that the shell sets itself up while the start is being recorded; `run` follows later.
function sendSetUp(keeper: Keeper, spec: JobSpec, prelude: string): StartedProcess {
  const { pid, stdout, stderr, stdin, terminal } = keeper;
  const { setUp, run } = toJobLaunchMessage(spec, prelude);
  keeper.wake();
  const isSent = writeAtomically(stdin, setUp);
  return {
    pid,
    stdout,
    stderr,
    stdin,
    terminal,
    launchMessage: isSent ? run : `${setUp}${run}`,
    exited: keeper.ended.then(({ exit }) => exit),
  };
}
