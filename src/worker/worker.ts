import { basename, join } from 'node:path';
import type { Backend, StopOptions } from '../contract/backend.ts';
import type { Place } from '../contract/facts.ts';
import { NacreError, shuttingDown } from '../contract/failure.ts';
import type { Isolation } from '../contract/isolation.ts';
import type { EnvironmentRules, JobSpec } from '../contract/job.ts';
import type { Limits } from '../contract/limits.ts';
import { chooseExecGuard, describeLandlock, type ExecWish } from './exec/choose-exec-guard.ts';
import { isDeadServer } from './folders/instance-folder.ts';
import { memoryFolders } from './folders/pipe-folder.ts';
import { createServerFolders, type ServerFolders } from './folders/server-folders.ts';
import { instanceVariable, sweepProcesses } from './folders/sweep-processes.ts';
import { createSpool, createSpoolQuota } from './io/spool.ts';
import { Job } from './job.ts';
import { createCgroups } from './limits/cgroups.ts';
import { createWarden, type Warden } from './limits/create-warden.ts';
import { type Bash, findBash } from './machine/bash.ts';
import { type Environment, filterEnvironment, toAbsolutePath } from './machine/environment.ts';
import { inspect, toPlace } from './machine/inspect.ts';
import { type LoginEnvMode, takeLoginEnvironment } from './machine/login-environment.ts';
import { createKeptDaemons } from './processes/kept-daemons.ts';
import type { ProcessTable } from './processes/process-table.ts';
import { holdOwnFiles, type OwnFiles } from './sandbox/own-files.ts';
import { toNetwork } from './sandbox/to-network.ts';
import { createShellSessions, type ShellSessions } from './shell/shell-sessions.ts';
import { chooseStarter, type StarterChoice } from './start/choose-starter.ts';
import { NotExecutableError } from './start/start-failures.ts';
import type { Starter } from './start/starter.ts';
import { loadPty, type PtyBinary } from './terminal/load-pty.ts';

/** What a worker is made of. */
export interface WorkerOptions extends StarterChoice, Isolation, Limits, ExecWish {
  readonly stateDir: string;
  /** The server's own directory, environment and home, as its process found them. */
  readonly cwd: string;
  readonly home: string;
  readonly environment: Environment;
  /** Told once what the login shell has added to it, whether commands get that or not. */
  readonly onEnvironment?: ((whole: Environment) => void) | undefined;
  readonly table: ProcessTable;
  readonly bash: string | undefined;
  readonly loginEnv: LoginEnvMode;
  readonly envPass: readonly string[];
  readonly envWithhold: readonly string[];
  readonly ringBytes: number;
  readonly spoolBytes: number;
  readonly spoolTotalBytes: number;
  readonly drainMs: number;
  readonly killGraceMs: number;
  /** Names of daemons that may stay after the command that started them. */
  readonly keep: readonly string[];
  /** Folders of nacre beside the state folder that no command should read. */
  readonly ownFiles: readonly string[];
  /** How many shells wait for commands, started ahead of need. */
  readonly warmShells: number;
  /** After this time without a command a persistent shell's processes end; its state is kept. */
  readonly sessionIdleMs: number;
  /** What makes terminals, in place of the package. */
  readonly loadPty?: (() => Promise<PtyBinary>) | undefined;
  /** False leaves cgroups alone; tests look at what holds without them. */
  readonly cgroups?: boolean | undefined;
}

/** The calls of a backend, answered here. */
export type Worker = Omit<Backend, 'abilities'>;

interface Ready {
  readonly bash: Bash;
  readonly folders: ServerFolders;
  readonly ownPlace: Place;
  readonly path: string;
  readonly starter: Starter;
  readonly shells: ShellSessions;
  readonly warden: Warden;
  readonly withheld: readonly string[];
  /** All variables of the server. */
  readonly whole: Environment;
  readonly loginNote: string;
  /** Resolves when what killed servers have left is gone. */
  readonly sweeping: Promise<unknown>;
}

/** What a worker has before it can start anything. */
interface Equipment {
  readonly ownFiles: OwnFiles;
  readonly env: Environment;
}

const closeLadder: StopOptions = { signal: 'SIGTERM', graceMs: 500 };

/**
 * Runs commands on this machine; the only part of nacre that starts processes.
 * 1. once, at the first need: the folder, the pipes, bash and the environment are made ready,
 * 2. `start` turns a spec into a process and a job,
 * 3. every other call finds its job by id; a job that has ended stays until it is disposed of.
 */
export function createWorker(options: WorkerOptions): Worker {
  const quota = createSpoolQuota(options.spoolTotalBytes);
  const daemons = createKeptDaemons(options.keep, options.table);
  const memory = memoryFolders(options.environment);
  const ownFiles = holdOwnFiles([options.stateDir, ...options.ownFiles, ...memory]);
  const { ringBytes, spoolBytes, drainMs, killGraceMs } = options;
  const forJobs = { ringBytes, spoolBytes, drainMs, killGraceMs, daemons };
  const jobs = new Map<string, Job>();
  const starting = new Map<string, Promise<void>>();
  let preparing: Promise<Ready> | null = null;
  let closed = false;

  const ready = () => {
    if (closed) throw shuttingDown();
    // A failure is not kept: the next command finds out whether the cause is gone.
    preparing ??= prepare(options, ownFiles, memory).catch((error: unknown) => {
      preparing = null;
      throw error;
    });
    return preparing;
  };
  const find = (id: string) => {
    const job = jobs.get(id);
    if (!job) throw notFound(id);
    return job;
  };
  const findStarted = async (id: string) => {
    // What has no process yet can neither take input nor be ended.
    await starting.get(id)?.catch(() => {});
    return find(id);
  };
  const launch = async (asked: JobSpec) => {
    const made = await ready();
    const { starter, shells, folders } = made;
    const spec = await shells.likeSession(asked);
    const { base, withheld } = environmentFor(spec, made, options);
    const spool = createSpool(join(folders.path, 'spool', spec.id), quota);
    const job = new Job(spec, { spool, withheldEnv: withheld }, forJobs);
    jobs.set(spec.id, job);
    try {
      const { session } = spec;
      job.attach(
        await (session === undefined ? starter.start(spec, { base }) : shells.start(session, spec, base)),
      );
      if (!waits(starter, spec)) job.begin();
    } catch (error) {
      if (error instanceof NotExecutableError) return job.refuse(error.message);
      jobs.delete(spec.id);
      throw error;
    }
  };

  const launchOnce = async (spec: JobSpec) => {
    if (closed) throw shuttingDown();
    if (starting.has(spec.id) || jobs.has(spec.id)) return starting.get(spec.id);
    const launched = launch(spec).finally(() => starting.delete(spec.id));
    starting.set(spec.id, launched);
    return launched;
  };

  return {
    async inspect(query) {
      const { path, ownPlace, shells } = await ready();
      const shell = query.session === undefined ? undefined : await shells.look(query.session);
      const here = { cwd: options.cwd, ownPlace, home: options.home, path, ...shell };
      return inspect(query, here);
    },
    async prepare(spec) {
      if (waits((await ready()).starter, spec)) await launchOnce(spec);
    },
    async start(spec) {
      await launchOnce(spec);
      jobs.get(spec.id)?.begin();
    },
    async read(id, from, readOptions) {
      try {
        return await find(id).read(from, readOptions);
      } catch (error) {
        // Whoever reads what is being disposed of is told just that.
        find(id);
        throw error;
      }
    },
    wait: async (id, waitMs) => find(id).wait(waitMs),
    write: async (id, data, writeOptions) => (await findStarted(id)).write(data, writeOptions),
    stop: async (id, stopOptions) => (await findStarted(id)).stop('stopped', stopOptions),
    look: async (id) => find(id).look(),
    awaitsInput: async (id) => find(id).awaitsInput(),
    resize: async (id, size) => (await findStarted(id)).resize(size),
    interrupt: async (id) => (await findStarted(id)).interrupt(),
    list: async () => [...jobs.values()].map((job) => job.state()),
    async dispose(id) {
      const job = find(id);
      if (!job.state().end)
        throw new NacreError('invalid_request', `${id} is still running.`, { hint: 'Stop it first.' });
      jobs.delete(id);
      await job.dispose();
    },
    letGo: async (session) => (await ready()).shells.letGo(session),
    listSessions: async () => (preparing ? (await ready()).shells.list() : []),
    async closeSession(key) {
      const { shells } = await ready();
      return shells.close(key, async (id) => {
        // One that could not be started is nothing to end.
        await starting.get(id)?.catch(() => {});
        await jobs.get(id)?.stop('stopped', closeLadder);
      });
    },
    async close() {
      closed = true;
      await Promise.allSettled(starting.values());
      await Promise.all([...jobs.values()].map((job) => job.stop('stopped', closeLadder)));
      await Promise.all([...jobs.values()].map((job) => job.dispose()));
      jobs.clear();
      await daemons.close();
      const made = await preparing?.catch(() => null);
      await made?.shells.closeAll();
      await made?.starter.close();
      await made?.sweeping;
      await made?.warden.close();
      ownFiles.close();
      await made?.folders.remove();
    },
    usage: async () => ({ spoolBytes: quota.usedBytes }),
    async report() {
      const { bash, path, loginNote, withheld, folders, starter } = await ready();
      return {
        bash,
        path,
        loginEnvironment: loginNote,
        withheldEnv: withheld,
        folder: folders.path,
        processTable: options.table.name,
        supervision: starter.level,
        sandbox: options.sandbox,
        network: toNetwork(options),
        exec: starter.exec,
        landlock: await describeLandlock(options.execGuard, { path, bashPath: bash.path }),
        pty: await loadPty().then(
          () => true,
          () => false,
        ),
        hidesOwnFiles: starter.hidesOwnFiles,
        gaps: starter.gaps,
      };
    },
  };
}

// Whoever is given to a persistent shell runs at once.
function waits(starter: Starter, { session }: JobSpec): boolean {
  return starter.waits && session === undefined;
}

function notFound(id: string): NacreError {
  return new NacreError('job_not_found', `There is no command ${id}.`, {
    hint: 'List the commands to see their ids; one that ended long ago may have been cleaned up.',
  });
}

// Commands with rules of their own get an environment of their own; all others share what waiting shells have.
function environmentFor(
  { environment }: JobSpec,
  { whole, withheld }: Pick<Ready, 'whole' | 'withheld'>,
  { envPass, envWithhold }: EnvironmentRules,
): { readonly base?: Environment; readonly withheld: readonly string[] } {
  if (!environment || environment.envPass.length + environment.envWithhold.length === 0) return { withheld };
  const rules = {
    envPass: [...envPass, ...environment.envPass],
    envWithhold: [...envWithhold, ...environment.envWithhold],
  };
  const own = filterEnvironment(whole, rules);
  return { base: own.env, withheld: own.withheld };
}

async function prepare(
  options: WorkerOptions,
  ownFiles: OwnFiles,
  memory: readonly string[],
): Promise<Ready> {
  const login = await takeLoginEnvironment(options.environment, options.loginEnv);
  const path = toAbsolutePath(login.env.PATH);
  const whole = { ...login.env, PATH: path };
  options.onEnvironment?.(whole);
  const { env, withheld } = filterEnvironment(whole, options);
  const bash = await findBash(options.bash, path);
  const ownPlace = await toPlace(options.cwd, options.cwd);
  const folders = await createServerFolders(options.stateDir, memory, options.table);
  try {
    const means = await equip(options, { ownFiles, folders, bash, env, path });
    return { ...means, bash, folders, ownPlace, path, withheld, whole, loginNote: login.note };
  } catch (error) {
    await folders.remove();
    throw error;
  }
}

async function equip(
  options: WorkerOptions,
  { ownFiles, folders, bash, env, path }: Pick<Ready, 'folders' | 'bash' | 'path'> & Equipment,
): Promise<Pick<Ready, 'starter' | 'shells' | 'warden' | 'sweeping'>> {
  const isRoot = process.getuid?.() === 0;
  const cgroups = options.cgroups === false ? null : createCgroups(basename(folders.path));
  void cgroups?.sweep((owner) => isDeadServer(owner, options.table)).catch(() => {});
  const sweeping = sweepProcesses(options.table, options.environment[instanceVariable]).catch(() => []);
  const warden = createWarden({ limits: options, cgroups, isRoot });
  const means = {
    ...options,
    warden,
    isolation: options,
    execChoice: await chooseExecGuard(options, { path, bashPath: bash.path }),
    bashPath: bash.path,
    fifos: folders.fifos,
    env,
    instance: { [instanceVariable]: basename(folders.path) },
    path,
    ownFiles,
    isRoot,
    loadPty: () => loadPty(options.loadPty),
    scriptPath: (id: string) => join(folders.path, 'scripts', id),
  };
  const starter = await chooseStarter(means, options);
  const shells = createShellSessions({
    starter,
    table: options.table,
    folder: join(folders.path, 'shells'),
    cwd: options.cwd,
    idleMs: options.sessionIdleMs,
  });
  return { starter, shells, warden, sweeping };
}
