import type { Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import { createStopwatch } from '../../support/timing.ts';
import { changesUnavailable } from '../changes/changes-failures.ts';
import { type ExecEnforcement, execGaps, toExecState } from '../exec/choose-exec-guard.ts';
import { byEnforcement } from '../exec/exec-enforcer.ts';
import type { AppliedLimits } from '../limits/limit-enforcer.ts';
import { type Environment, forPipes, forTerminal, toCommandEnvironment } from '../machine/environment.ts';
import { keepGaps } from '../processes/kept-daemons.ts';
import { createFoundTree } from '../processes/process-tree.ts';
import { landlockGaps, landlockHidesOwnFiles } from '../sandbox/landlock-sandbox.ts';
import { toSandboxPlan } from '../sandbox/sandbox-plan.ts';
import { tightenIsolation } from '../sandbox/workspace.ts';
import { ForkServer } from '../supervision/fork-server.ts';
import { filesShown, toEnforcement } from '../supervision/supervisor.ts';
import { AdoptedOrphans } from './adopted-orphans.ts';
import { forkProcess } from './fork-process.ts';
import { GuardedShells } from './guarded-shells.ts';
import { type SupervisedDeps, toJobLaunchMessage, toKeeperEnvironment } from './keeper-plan.ts';
import { startAtTerminal, toArguments } from './start-at-terminal.ts';
import { checkStart, startUnavailable } from './start-failures.ts';
import { type ProcessPlan, type StartedProcess, startProcess, withPrelude } from './start-process.ts';
import type { Started, Starter, StartOptions } from './starter.ts';
import { toDeniedPrograms, toGuard } from './to-guard.ts';

/**
 * Runs each command in its own process group and finds its processes with the `ProcessTable`.
 * 1. A command that the guard restricts runs in one of the `GuardedShells`, which gets its launch message,
 * 2. at a terminal the guard is started in front of it,
 * 3. any other command is started directly.
 * The `ForkServer` is the parent of all of them, where it is available: it reaps their orphans, and kills them if the
 * server is killed.
 */
export class GroupStarter implements Starter {
  readonly level = 'group';
  readonly hidesOwnFiles: boolean;
  readonly rooms = undefined;
  readonly #deps: SupervisedDeps;
  readonly #forkServer: ForkServer;
  readonly #shells: GuardedShells;
  readonly #orphans: AdoptedOrphans;
  readonly #usualGaps: (exec: ExecEnforcement) => readonly string[];

  constructor(deps: SupervisedDeps) {
    this.#deps = deps;
    this.#forkServer = new ForkServer({ env: { PATH: deps.path, ...deps.instance } });
    this.#shells = new GuardedShells(deps, this.#forkServer);
    this.#orphans = new AdoptedOrphans(this.#forkServer, deps.table, deps.instance);
    this.#usualGaps = byEnforcement((exec) => this.#gapsFor(deps.isolation, exec));
    this.hidesOwnFiles = landlockHidesOwnFiles(deps.isolation);
  }

  waitsForLaunchMessage({ guard }: ExecEnforcement): boolean {
    return guard !== undefined || this.#deps.isolation.sandbox !== 'off';
  }

  gaps(exec: ExecEnforcement): readonly string[] {
    return this.#usualGaps(exec);
  }

  /** Starts shells in advance, if commands need the guard. */
  warmUp(exec: ExecEnforcement): Promise<void> {
    return this.#shells.warmUp(exec);
  }

  async start(spec: JobSpec, options: StartOptions): Promise<Started> {
    if (options.layered) throw changesUnavailable('commands have no mount namespace of their own');
    const isolation = tightenIsolation(this.#deps.isolation, spec.isolation);
    const isGuarded = options.exec.guard !== undefined || isolation.sandbox !== 'off';
    const applied = this.#deps.limitEnforcer.apply({
      id: spec.id,
      asked: spec.limits,
      hasNamespace: false,
      cannotRaiseLimits: isolation.sandbox !== 'off',
      // A guarded shell cannot write to its cgroup's files, so nacre moves it there by pid.
      entry: isGuarded && !spec.terminal ? 'caller' : 'shell',
    });
    try {
      const started = await (isGuarded
        ? this.#startGuarded(spec, isolation, options, applied)
        : this.#startPlain(spec, options, applied));
      return await this.#toStarted(spec, started, { isolation, applied, exec: options.exec });
    } catch (error) {
      applied.discard();
      throw error;
    }
  }

  async closeRoom(): Promise<void> {}

  async close(): Promise<void> {
    await this.#shells.close();
    await this.#forkServer.close();
  }

  async #startProcess(plan: ProcessPlan): Promise<StartedProcess> {
    const { bashPath } = this.#deps;
    const forked = await forkProcess(this.#forkServer, plan).catch((error: unknown) => {
      throw startUnavailable(plan.command.kind === 'argv' ? plan.command.argv[0] : bashPath, error);
    });
    return forked ?? startProcess(plan);
  }

  async #startPlain(
    spec: JobSpec,
    { baseEnv = this.#deps.env }: StartOptions,
    applied: AppliedLimits,
  ): Promise<GroupProcess> {
    const { fifos, loadPty, path } = this.#deps;
    if (spec.terminal || spec.command.kind === 'argv') checkStart(spec.command, spec.cwd, path);
    const plan = this.#toPlan(spec, applied.toPrelude(), baseEnv);
    const elapsed = createStopwatch();
    const process = spec.terminal
      ? await startAtTerminal(await loadPty(), plan, spec.terminal, this.#forkServer)
      : await this.#startProcess({ ...plan, fifos: await fifos.take(spec.stdin === 'open' ? 3 : 2) });
    return { process, elapsed };
  }

  async #startGuarded(
    spec: JobSpec,
    isolation: Isolation,
    options: StartOptions,
    applied: AppliedLimits,
  ): Promise<GroupProcess> {
    checkStart(spec.command, spec.cwd, this.#deps.path);
    if (spec.terminal) return this.#startGuardedAtTerminal(spec, isolation, options, applied);
    const shell = await this.#shells.open(spec, isolation, options);
    const { pid, stdout, stderr, stdin, exited, elapsed } = shell;
    try {
      applied.group?.enter(pid);
    } catch (error) {
      await shell.discard();
      throw startUnavailable('the command', error);
    }
    const { setUp, run } = toJobLaunchMessage(spec, applied.toPrelude());
    return { process: { pid, stdout, stderr, stdin, exited, launchMessage: `${setUp}${run}` }, elapsed };
  }

  // The guard becomes the shell that applies the limits (`withPrelude`) and runs the command.
  async #startGuardedAtTerminal(
    spec: JobSpec,
    isolation: Isolation,
    { baseEnv = this.#deps.env, exec }: StartOptions,
    applied: AppliedLimits,
  ): Promise<GroupProcess> {
    const { landlock, instance, loadPty } = this.#deps;
    const sandbox = toSandboxPlan(this.#deps, isolation, spec.cwd);
    const plan = this.#toPlan(spec, applied.toPrelude(), baseEnv);
    const base = toKeeperEnvironment(sandbox, instance, {
      baseEnv,
      atTerminal: true,
      cacheFolder: landlock?.cacheFolder,
    });
    const env = { ...base, ...plan.env };
    const words = toArguments(withPrelude(plan));
    const guard = toGuard(this.#deps, sandbox, exec.guard);
    const guarded = guard?.wrap(words, env, [0, 1, 2]) ?? { argv: words, env };
    const [first = '', ...others] = guarded.argv;
    const command = { kind: 'argv', argv: [first, ...others] } as const;
    const elapsed = createStopwatch();
    const terminal = spec.terminal ?? { cols: 80, rows: 24 };
    const atTerminal = { ...plan, prelude: '', command, env: guarded.env };
    const pty = await loadPty();
    return { process: await startAtTerminal(pty, atTerminal, terminal, this.#forkServer), elapsed };
  }

  #toPlan(spec: JobSpec, prelude: string, baseEnv: Environment): Omit<ProcessPlan, 'fifos'> {
    const { bashPath, scriptPath, instance } = this.#deps;
    const { id, command, cwd } = spec;
    const marker = { ...instance, NACRE_COMMAND_ID: id };
    const base = spec.terminal ? forTerminal(baseEnv) : forPipes(baseEnv);
    const env = toCommandEnvironment(base, spec.env, marker);
    return { prelude, command, cwd, env, bashPath, scriptPath: scriptPath(id) };
  }

  async #toStarted(
    spec: JobSpec,
    { process, elapsed }: GroupProcess,
    {
      isolation,
      applied,
      exec,
    }: Pick<StartOptions, 'exec'> & { readonly isolation: Isolation; readonly applied: AppliedLimits },
  ): Promise<Started> {
    const { table } = this.#deps;
    const startTime = await table.startTime(process.pid).catch(() => null);
    const root = { pid: process.pid, startTime, marker: `NACRE_COMMAND_ID=${spec.id}`, elapsed };
    const tree = createFoundTree(root, this.#orphans.tableFor(root, process.exited));
    const isUsual = isolation.sandbox === this.#deps.isolation.sandbox;
    const gaps = [...(isUsual ? this.gaps(exec) : this.#gapsFor(isolation, exec)), ...applied.gaps];
    const setuid = exec.guard === undefined && isolation.sandbox === 'off';
    return {
      process,
      tree,
      deniedPrograms: toDeniedPrograms(this.#deps, exec.guard),
      protectedUse: this.#deps.protection.watch(isolation, spec.cwd, false),
      enforcement: toEnforcement('group', isolation, { setuid, exec: toExecState(exec), gaps }),
      watch: applied.watch({ tree, endedCpuMs: () => null }),
    };
  }

  #gapsFor(isolation: Isolation, exec: ExecEnforcement): readonly string[] {
    const { keep, landlock } = this.#deps;
    const isSandboxed = isolation.sandbox !== 'off' && landlock !== undefined;
    return [
      ...this.#orphans.gaps,
      ...(isSandboxed ? landlockGaps(landlock, this.#deps, isolation, this.level) : withoutSandbox),
      ...(this.#forkServer.isAvailable ? [] : withoutForkServer),
      ...keepGaps(keep),
      ...execGaps(exec, this.level),
    ];
  }
}

interface GroupProcess {
  readonly process: StartedProcess;
  readonly elapsed: () => number;
}

const withoutSandbox = [
  filesShown,
  "A command can inspect, change and end other processes of its user, nacre's server among them.",
];

// Node reports a real-time signal neither as a code nor as a signal; the fork server does.
const withoutForkServer = [
  ...(process.platform === 'linux'
    ? ['A command whose own process is killed by a real-time signal is reported with exit code 0.']
    : []),
  'If the server itself is killed (SIGKILL), its commands keep running until the next server starts.',
];
