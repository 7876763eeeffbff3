import { closeSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { NacreError } from '../../contract/failure.ts';
import type { Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { ExecChoice } from '../exec/choose-exec-guard.ts';
import { writeAtOnce } from '../io/write-at-once.ts';
import type { Ward } from '../limits/create-warden.ts';
import { type Environment, forPipes, forTerminal, toCommandEnvironment } from '../machine/environment.ts';
import { proxyEnvironment } from '../network/bridge.ts';
import { createNetworkProxy } from '../network/network-proxy.ts';
import { keepGaps } from '../processes/kept-daemons.ts';
import type { SandboxPlan } from '../sandbox/bubblewrap.ts';
import { toCacheEnvironment } from '../sandbox/cache-environment.ts';
import type { OwnFiles } from '../sandbox/own-files.ts';
import { toSandboxPlan, toWritable } from '../sandbox/sandbox-plan.ts';
import { tightenIsolation } from '../sandbox/tighten-isolation.ts';
import { toNetwork } from '../sandbox/to-network.ts';
import { findShell } from '../supervision/find-shell.ts';
import type { Keeper } from '../supervision/follow-keeper.ts';
import { createKeeperPool, type KeeperPool } from '../supervision/keeper-pool.ts';
import { createLifeline } from '../supervision/lifeline.ts';
import { createNamespaceTree } from '../supervision/namespace-tree.ts';
import { createNursery, heldFd } from '../supervision/nursery.ts';
import { type OrderParts, toOrder } from '../supervision/order.ts';
import { startInNursery, startKeeper, toProgram } from '../supervision/start-keeper.ts';
import { type Supervisor, toEnforcement } from '../supervision/supervisor.ts';
import { type OpenTerminal, openTerminal } from '../terminal/open-terminal.ts';
import type { StartMeans } from './group-starter.ts';
import { checkStart, startUnavailable } from './start-failures.ts';
import { openScript } from './start-process.ts';
import type { Started, Starter, StartOptions } from './starter.ts';

/** What a supervised starter needs beside the usual means. */
export interface SupervisedMeans extends StartMeans {
  readonly cwd: string;
  readonly home: string;
  /** The isolation of every command that does not ask for more. */
  readonly isolation: Isolation;
  /** Folders and files of nacre that no command should read. */
  readonly ownFiles: Pick<OwnFiles, 'find'>;
  readonly isRoot: boolean;
  /** How many waiting shells are kept ready. */
  readonly warmShells: number;
}

interface KeeperOptions extends Pick<StartOptions, 'base'> {
  readonly scriptFile?: number | undefined;
  readonly terminal?: OpenTerminal | undefined;
}

// A pipe takes only so much at once; longer scripts go by file.
const maxOrderBytes = 8_192;

/**
 * Starts each command in a pid namespace under a supervisor that dies with us.
 * 1. a keeper is taken that was started ahead, or started now,
 * 2. its waiting shell gets the order: directory, variables, stdin and script,
 * 3. the keeper tells when that shell has ended; its namespace ends with it.
 */
export function createSupervisedStarter(
  supervisor: Supervisor,
  means: SupervisedMeans,
): Starter & Pick<KeeperPool, 'probe'> {
  const { guard } = means.execChoice;
  const gapsIn = (isolation: Isolation) => [
    ...supervisor.gaps(means, isolation),
    ...keepGaps(means.keep),
    ...execGaps(supervisor, means.execChoice),
  ];
  const setuid = guard === undefined && supervisor.keepsSetuid(means);
  const exec = guard === undefined ? 'off' : 'enforced';
  const { bashPath } = means;
  const living = new Set<Keeper>();
  const remember = (keeper: Keeper) => {
    living.add(keeper);
    void keeper.gone.then(() => living.delete(keeper));
    return keeper;
  };
  const lifeline = createLifeline(means.fifos);
  const supervisorFor = (plan: SandboxPlan) => supervisor.toArguments(guard?.toPlan(plan) ?? plan);
  const start = async (
    plan: SandboxPlan,
    { scriptFile, terminal, base = means.env }: KeeperOptions = {},
  ): Promise<Keeper> => {
    const isFiltered = toNetwork(plan.isolation) === 'filtered';
    const env = environmentIn(plan, means, { base, atTerminal: terminal !== undefined });
    const proxy = isFiltered ? createNetworkProxy({ allow: plan.isolation.networkAllow }) : undefined;
    const fifos = await means.fifos.take(4);
    const { theirs: life } = await lifeline();
    const [program, ...args] = supervisorFor(plan);
    // Who leads a session already cannot begin another, and the keeper of a terminal has to.
    const kept = terminal ? args.filter((argument) => argument !== '--new-session') : args;
    const plain = { supervisor: [program, ...kept], bashPath, env, fifos, guard } as const;
    return remember(await startKeeper({ ...plain, life, cwd: '/', scriptFile, terminal, proxy }));
  };
  const usual = toUsualPlan(means);
  const usualPlan = usual ?? withoutSandbox(means);
  const usualEnv = environmentIn(usualPlan, means, { base: means.env, atTerminal: false });
  const toPlain = (fifos: readonly string[]) => {
    const [program, ...args] = supervisorFor(usualPlan);
    const holding = [program, ...supervisor.toHolding(heldFd), ...args] as const;
    return { supervisor: holding, bashPath, env: usualEnv, fifos, guard };
  };
  const nursery = createNursery({
    bashPath,
    env: toProgram(toPlain([]), []).env,
    life: async () => (await lifeline()).theirs,
  });
  const startUsual = async () => {
    if (toNetwork(usualPlan.isolation) === 'filtered') return start(usualPlan);
    const plain = toPlain(await means.fifos.take(4));
    return remember(await startInNursery(nursery, plain));
  };
  const pool = createKeeperPool(usual ? means.warmShells : 0, startUsual);
  const fitsUsual = (isolation: Isolation, cwd: string) =>
    isolation.sandbox === usual?.isolation.sandbox &&
    isDeepStrictEqual(toWritable(means, isolation, cwd), usual.writable) &&
    isDeepStrictEqual(means.ownFiles.find(), usual.ownFiles);

  const open = async (
    spec: JobSpec,
    isolation: Isolation,
    { shows = [], base }: StartOptions,
  ): Promise<Keeper> => {
    const long = toLongScript(spec);
    const isUsual = long === undefined && shows.length === 0 && base === undefined && !spec.terminal;
    if (isUsual && fitsUsual(isolation, spec.cwd)) return whenReady(await pool.take(), supervisor.level);
    const plan = withFolders(toSandboxPlan(means, isolation, spec.cwd), shows);
    const terminal = spec.terminal && openTerminal(await means.loadPty(), spec.terminal);
    const scriptFile = long === undefined ? undefined : openScript(means.scriptPath(spec.id), long);
    try {
      const keeper = await start(plan, { scriptFile, terminal, base }).catch((error: unknown) => {
        terminal?.discard();
        throw error;
      });
      return await whenReady(keeper, supervisor.level);
    } finally {
      if (scriptFile !== undefined) closeSync(scriptFile);
      terminal?.closeSlave();
    }
  };

  // What is to be hidden may vanish while a namespace is made; a second one does without.
  const openTwice = (spec: JobSpec, isolation: Isolation, options: StartOptions) =>
    open(spec, isolation, options).catch(() => open(spec, isolation, options));

  return {
    level: supervisor.level,
    waits: true,
    exec,
    // Root in a sandbox has no powers left to undo a mount with.
    hidesOwnFiles: supervisor.level === 'namespace' && (!means.isRoot || means.isolation.sandbox !== 'off'),
    gaps: gapsIn(means.isolation),
    probe: pool.probe,
    async start(spec, options = {}): Promise<Started> {
      const isolation = tightenIsolation(means.isolation, spec.isolation);
      const program = spec.command.kind === 'argv' ? spec.command.argv[0] : undefined;
      checkStart(program, spec.cwd, means.path);
      const ward = means.warden.take({
        id: spec.id,
        asked: spec.limits,
        residents: supervisor.roof.residents,
        isPowerless: isolation.sandbox !== 'off',
        enters: 'put',
      });
      const keeper = await openTwice(spec, isolation, options).catch((error: unknown) => {
        ward.drop();
        throw error instanceof NacreError ? error : startUnavailable(supervisor.level, error);
      });
      await confine(keeper, supervisor, ward);
      const { pid, stdout, stderr, stdin, terminal } = keeper;
      const { setUp, run } = orderFor(spec, ward.prelude);
      // At once: the shell wakes up and makes itself ready while we do the rest.
      const isSent = writeAtOnce(stdin, setUp);
      const process = {
        pid,
        stdout,
        stderr,
        stdin,
        terminal,
        order: isSent ? run : `${setUp}${run}`,
        exited: keeper.ended.then(({ exit }) => exit),
      };
      const tree = createNamespaceTree(keeper, supervisor.roof, means.table);
      const all = { setuid, exec, gaps: [...gapsIn(isolation), ...ward.gaps] } as const;
      const watch = ward.watch({ tree, endedCpuMs: keeper.endedCpuMs });
      const enforcement = toEnforcement(supervisor.level, isolation, all);
      return { process, tree, enforcement, deniedHosts: keeper.proxy?.deniedHosts, watch };
    },
    async close() {
      await pool.close();
      await Promise.all([...living].map((keeper) => keeper.gone));
      await nursery.close();
      await lifeline.close();
    },
  };
}

/** The variables of a command in a namespace. */
function environmentIn(
  { isolation }: SandboxPlan,
  { instance }: SupervisedMeans,
  { base, atTerminal }: { readonly base: Environment; readonly atTerminal: boolean },
): Environment {
  const caches = toCacheEnvironment(isolation.sandbox, base);
  const additions = toNetwork(isolation) === 'filtered' ? { ...caches, ...proxyEnvironment } : caches;
  return toCommandEnvironment(atTerminal ? forTerminal(base) : forPipes(base), additions, instance);
}

// Only bubblewrap can keep the allowed programs from being changed into others.
function execGaps({ level }: Supervisor, { guard, gaps }: ExecChoice): readonly string[] {
  const canChange = level !== 'namespace' && guard !== undefined && guard.writable().length > 0;
  return canChange ? [...gaps, 'A command can change a listed program that it may write to.'] : gaps;
}

// A workspace that is too wide is refused when a command asks for it, not at the start.
function toUsualPlan(means: SupervisedMeans): SandboxPlan | undefined {
  try {
    return toSandboxPlan(means, means.isolation, means.cwd);
  } catch {
    return undefined;
  }
}

// Read-only: we open what lies there by name, and a link in its place would lead us out of the sandbox. A FIFO takes
// what is written to it all the same.
function withFolders(plan: SandboxPlan, folders: readonly string[]): SandboxPlan {
  return { ...plan, mounts: [...plan.mounts, ...folders.flatMap((path) => ['--ro-bind', path, path])] };
}

function withoutSandbox(means: SupervisedMeans): SandboxPlan {
  return toSandboxPlan(means, { ...means.isolation, sandbox: 'off' }, means.cwd);
}

// Before it is ready a supervisor may be ended without what it has begun; no order is given to such a one.
async function whenReady(keeper: Keeper, level: string): Promise<Keeper> {
  if (await keeper.ready) return keeper;
  const reason = keeper.lastWords().trim() || 'it ended at once';
  await keeper.discard();
  throw new NacreError(
    'isolation_unavailable',
    `The ${level} for this command could not be made: ${reason}`,
    {
      hint: 'Run nacre doctor to see what this machine allows. Nothing was run.',
    },
  );
}

// The command's shell alone: what watches over it must not be the one that is ended for want of memory.
async function confine(keeper: Keeper, { roof, level }: Supervisor, { group, drop }: Ward): Promise<void> {
  if (group === null) return;
  try {
    const shell = await findShell(keeper.pid, roof);
    if (shell === null) throw new Error('its shell was not found');
    group.enter(shell);
  } catch (error) {
    await keeper.discard();
    drop();
    throw startUnavailable(level, error);
  }
}

function toLongScript({ command }: JobSpec): string | undefined {
  const isLong = command.kind === 'shell' && Buffer.byteLength(command.script) > maxOrderBytes;
  return isLong ? command.script : undefined;
}

function orderFor(spec: JobSpec, prelude: string): OrderParts {
  const { id, cwd, env, stdin, terminal } = spec;
  const command = toLongScript(spec) === undefined ? spec.command : 'file';
  const atTerminal = terminal !== undefined;
  return toOrder({ command, cwd, env: { ...env, NACRE_COMMAND_ID: id }, stdin, prelude, atTerminal });
}
