import { join } from 'node:path';
import { type Backend, type BackendChanges, stopOnClose } from '../contract/backend.ts';
import type { Facts, InspectQuery } from '../contract/facts.ts';
import { jobNotFound, NacreError, shuttingDown, stillRunning } from '../contract/failure.ts';
import type { Cursor, EnvironmentRules, JobSpec, JobState, ReadResult } from '../contract/job.ts';
import type { ListeningPort, RoomState } from '../contract/port.ts';
import type { MachineReport } from '../contract/report.ts';
import type { ChangesStore } from './changes/changes-store.ts';
import { LargeCommands } from './changes/large-commands.ts';
import { findOtherStores } from './changes/places.ts';
import { showStoredChanges } from './changes/show-changes.ts';
import { type ExecEnforcement, toExecState } from './exec/choose-exec-guard.ts';
import { Spool, SpoolQuota } from './io/spool.ts';
import { Job, type JobOptions } from './job.ts';
import type { ReadOptions } from './job-output.ts';
import { type Environment, filterEnvironment } from './machine/environment.ts';
import { inspect } from './machine/inspect.ts';
import { proxyPort } from './network/bridge.ts';
import { portsInNetworkOf } from './observe/listening-ports.ts';
import { Preparation, type PreparedWorker } from './prepare-worker.ts';
import { KeptDaemons } from './processes/kept-daemons.ts';
import { toNetwork } from './sandbox/sandbox-plan.ts';
import { defaultDirectory, findWorkspace, isInWorkspace } from './sandbox/workspace.ts';
import { findChangesFault } from './start/find-changes-fault.ts';
import { NotExecutableError } from './start/start-failures.ts';
import type { Started, Starter } from './start/starter.ts';
import { noteOnDirect, toLayered } from './start/to-layered.ts';
import { toFiles } from './supervision/supervisor.ts';
import { loadPty } from './terminal/load-pty.ts';
import type { WorkerOptions } from './worker-options.ts';

/** The part of a `Backend` that a worker implements. */
export interface Worker extends Omit<Backend, 'abilities' | 'read'> {
  read(id: string, from: Cursor, options: ReadOptions): Promise<ReadResult>;
  /** Resolves when all output of a job is on disk, if its log is in `WorkerOptions.keptFolder`. */
  written(id: string): Promise<void>;
}

/**
 * Makes a worker, which runs commands on this machine; the only part of nacre that starts processes.
 * 1. `Preparation` prepares folders, bash, the environment and a starter at the first use,
 * 2. `start` turns a spec into a process and a `Job`,
 * 3. every other call finds its job by id in `JobRegistry`; an ended job stays until it is disposed of.
 */
export function createWorker(options: WorkerOptions): Worker {
  const { ringBytes, spoolBytes, drainMs, killGraceMs } = options;
  const quota = new SpoolQuota(options.spoolTotalBytes);
  const daemons = new KeptDaemons(options.keep, options.table, options.keepPollMs);
  const large = new LargeCommands();
  const jobOptions = { ringBytes, spoolBytes, drainMs, killGraceMs, daemons };
  const preparation = new Preparation(options);
  const jobs = new JobRegistry();
  // Specs of prepared jobs whose process `start` starts.
  const prepared = new Map<string, JobSpec>();
  const launch = (spec: JobSpec) =>
    jobs.launch(spec.id, async () =>
      toLaunch(spec, await preparation.get(), { options, quota, jobOptions, large }),
    );

  return {
    warmUp: async () => void (await preparation.get()),
    async environmentSecrets(rules) {
      const { env } = await preparation.login();
      return filterEnvironment(env, rules).withheld.map((name) => env[name] ?? '');
    },
    inspect: async (query) => inspectWith(query, await preparation.get(), options),
    async prepare(spec) {
      prepared.set(spec.id, spec);
      const { starter, exec } = await preparation.get();
      if (waitsForLaunchMessage(starter, spec, await exec.for(spec.exec))) await launch(spec);
    },
    async start(id) {
      const spec = prepared.get(id);
      prepared.delete(id);
      if (spec) await launch(spec);
      else if (!jobs.has(id)) throw jobNotFound(id);
      jobs.begin(id);
    },
    written: async (id) => jobs.find(id).written(),
    async read(id, from, readOptions) {
      try {
        return await jobs.find(id).read(from, readOptions);
      } catch (error) {
        // If the job was disposed of during the read, `find` throws a clearer error.
        jobs.find(id);
        throw error;
      }
    },
    wait: async (id, waitMs) => jobs.find(id).wait(waitMs),
    write: async (id, data, writeOptions) => (await jobs.findStarted(id)).write(data, writeOptions),
    async stop(id, stopOptions) {
      prepared.delete(id);
      return (await jobs.findStarted(id)).stop(stopOptions.cause ?? 'stopped', stopOptions);
    },
    observe: async (id) => jobs.find(id).observe(),
    awaitsInput: async (id) => jobs.find(id).awaitsInput(),
    resize: async (id, size) => (await jobs.findStarted(id)).resize(size),
    interrupt: async (id) => (await jobs.findStarted(id)).interrupt(),
    list: async () => jobs.list().map((job) => job.state()),
    dispose: (id) => jobs.dispose(id),
    detach: async (session) => (await preparation.get()).shells.detach(session),
    listSessions: async () => (preparation.hasBegun ? (await preparation.get()).shells.list() : []),
    async closeSession(key) {
      return (await preparation.get()).shells.close(key, (id) => jobs.stopOnClose(id));
    },
    ...roomMethods(preparation, jobs),
    // A worker in this process ends with the process, so nothing outlives its connection.
    takeUp: async () => [],
    settle: async () => {},
    async close() {
      preparation.refuse();
      await jobs.close();
      await daemons.close();
      await preparation.close();
    },
    async changesFault() {
      const { starter, exec } = await preparation.get();
      return findChangesFault(starter, defaultDirectory(options), { exec: await exec.for(undefined) });
    },
    ...changesOf(async () => (await preparation.get()).changes),
    usage: async () => ({ spoolBytes: quota.usedBytes }),
    report: async () => toReport(await preparation.get(), options),
  };
}

function roomMethods(
  preparation: Preparation,
  jobs: JobRegistry,
): Pick<Worker, 'listRooms' | 'openPort' | 'closePort' | 'closeRoom'> {
  return {
    listRooms: async () => (preparation.hasBegun ? listRooms(await preparation.get(), jobs) : []),
    async openPort(port) {
      const { starter, ports } = await preparation.get();
      const [, room] = starter.rooms?.list().find(([key]) => key === port.room) ?? [];
      if (!room) throw noRoom(port.room);
      return ports.open(room, port);
    },
    closePort: async (hostPort) =>
      preparation.hasBegun ? (await preparation.get()).ports.close(hostPort) : undefined,
    async closeRoom(room) {
      if (preparation.hasBegun) await (await preparation.get()).starter.closeRoom(room);
    },
  };
}

function changesOf(store: () => Promise<ChangesStore>): Omit<BackendChanges, 'changesFault'> {
  return {
    listChanges: async (owner) => (await store()).list(owner),
    scanChanges: async (action, limit) => (await store()).scan(action, limit),
    showChanges: async (action, limits) => showStoredChanges(await store(), action, limits),
    applyChanges: async (action) => (await store()).apply(action),
    discardChanges: async (action) => (await store()).discard(action),
    undoChanges: async (action) => (await store()).undo(action),
  };
}

async function inspectWith(
  query: InspectQuery,
  { path, ownPlace, shells, homes }: PreparedWorker,
  options: WorkerOptions,
): Promise<Facts> {
  const { cwd, home, ownFiles: own, stateDir } = options;
  const ownFiles = [...own, stateDir, ...findOtherStores(stateDir)];
  const shell = query.session === undefined ? undefined : await shells.snapshot(query.session);
  const workspace = query.workspace?.length ? findWorkspace(options) : [];
  const isUsable = (folder: string) => workspace.length === 0 || isInWorkspace(folder, workspace);
  return inspect(query, { cwd, ownPlace, home, homes: homes.all, ownFiles, path, isUsable, ...shell });
}

interface LaunchDeps {
  readonly options: WorkerOptions;
  readonly quota: SpoolQuota;
  readonly jobOptions: JobOptions;
  readonly large: LargeCommands;
}

async function toLaunch(
  requested: JobSpec,
  prepared: PreparedWorker,
  { options, quota, jobOptions, large }: LaunchDeps,
): Promise<JobLaunch> {
  const { starter, shells, folders } = prepared;
  const exec = await prepared.exec.for(requested.exec);
  const spec = requested.beginsAs === undefined ? requested : await shells.withSessionState(requested);
  const { session } = spec;
  const { baseEnv, withheld } = toBaseEnvironment(spec, prepared, options);
  const isDirect = options.changesLarge === 'direct' && large.has(requested);
  const layered = toLayered(requested, options.changes, isDirect);
  const changesNote = noteOnDirect(requested, options.changes, isDirect);
  const { spool, writesThrough } = toSpool(spec, folders.path, options, quota);
  return {
    job: new Job(
      spec,
      { spool, writesThrough, withheldEnv: withheld, changesNote, onTooLarge: () => large.add(requested) },
      jobOptions,
    ),
    waitsForLaunchMessage: waitsForLaunchMessage(starter, spec, exec),
    start: () =>
      session === undefined
        ? starter.start(spec, { baseEnv, exec, layered })
        : shells.start(session, spec, { baseEnv, exec, layered }),
  };
}

// The log of a command that outlives the connection must survive this process, so it stays when the job is disposed of.
function toSpool(
  { id, keeping }: JobSpec,
  folder: string,
  { keptFolder }: WorkerOptions,
  quota: SpoolQuota,
): { readonly spool: Spool; readonly writesThrough: boolean } {
  if (keptFolder === undefined || !keeping?.outlives)
    return { spool: new Spool(join(folder, 'spool', id), quota), writesThrough: false };
  return { spool: new Spool(join(keptFolder, id, 'log'), quota, { keepsFile: true }), writesThrough: true };
}

// A persistent shell runs a command as soon as it gets it, so `prepare` does nothing for it.
function waitsForLaunchMessage(starter: Starter, { session }: JobSpec, exec: ExecEnforcement): boolean {
  return starter.waitsForLaunchMessage(exec) && session === undefined;
}

// `baseEnv` is undefined for a command without its own rules, so that it can use a shell that was started in advance.
function toBaseEnvironment(
  { environment }: JobSpec,
  { allVariables, withheld }: Pick<PreparedWorker, 'allVariables' | 'withheld'>,
  { envPass, envWithhold }: EnvironmentRules,
): { readonly baseEnv?: Environment; readonly withheld: readonly string[] } {
  if (!environment || environment.envPass.length + environment.envWithhold.length === 0) return { withheld };
  const filtered = filterEnvironment(allVariables, {
    envPass: [...envPass, ...environment.envPass],
    envWithhold: [...envWithhold, ...environment.envWithhold],
  });
  return { baseEnv: filtered.env, withheld: filtered.withheld };
}

async function toReport(prepared: PreparedWorker, options: WorkerOptions): Promise<MachineReport> {
  const { bash, path, loginNote, withheld, folders, starter, machine } = prepared;
  const exec = await prepared.exec.for(undefined);
  const hasMounts = starter.level === 'namespace';
  const landlock = await machine.findLandlock();
  const hasLandlock = !('reason' in landlock);
  return {
    bash,
    path,
    loginEnvironment: loginNote,
    withheldEnv: withheld,
    folder: folders.path,
    processTable: options.table.name,
    supervision: starter.level,
    sandbox: options.sandbox,
    files: toFiles(starter.level, options),
    workspaceBy: hasMounts ? 'namespace' : hasLandlock ? 'landlock' : null,
    namespaceFault: hasMounts || options.processes === 'host' ? null : await machine.findFault(),
    network: toNetwork(hasMounts ? options : { ...options, networkAllow: [] }),
    exec: toExecState(exec),
    execNote: exec.note,
    landlock: hasLandlock ? 'available' : `not available: ${landlock.reason}`,
    pty: await loadPty().then(
      () => true,
      () => false,
    ),
    hidesOwnFiles: starter.hidesOwnFiles,
    gaps: starter.gaps(exec),
  };
}

// The port of the proxy belongs to nacre, which listens there in every filtered network.
async function listRooms(
  { starter, ports }: PreparedWorker,
  jobs: JobRegistry,
): Promise<readonly RoomState[]> {
  const rooms = starter.rooms?.list() ?? [];
  return Promise.all(
    rooms.map(async ([room, { users }]) => {
      const user = users.find(({ isJoined }) => isJoined);
      const inNetwork = user ? portsInNetworkOf(user.pid) : [];
      const found = inNetwork.filter((port) => port !== proxyPort);
      const listening = found.length === 0 ? [] : await withCommands(found, jobs.inRoom(room));
      return { room, listening, forwarded: ports.list(room) };
    }),
  );
}

async function withCommands(
  ports: readonly number[],
  jobs: readonly Job[],
): Promise<readonly ListeningPort[]> {
  const seen = await Promise.all(
    jobs.map(async (job) => ({ id: job.state().id, own: (await job.observe()).listening })),
  );
  return ports.map((port) => ({ port, command: seen.find(({ own }) => own.includes(port))?.id ?? null }));
}

function noRoom(room: string): NacreError {
  return new NacreError('invalid_request', `No sandboxed command of the connection ${room} is running.`, {
    hint: 'nacre port lists the connections and the ports that their commands listen on.',
  });
}

/** A `Job` whose process is still to be started. */
export interface JobLaunch {
  readonly job: Job;
  /** False if the command runs as soon as its process is started; true if `Job.begin` runs it. */
  readonly waitsForLaunchMessage: boolean;
  start(): Promise<Started>;
}

/** The jobs of a worker by id; an ended job stays until `dispose`. */
export class JobRegistry {
  readonly #jobs = new Map<string, Job>();
  readonly #starting = new Map<string, Promise<void>>();
  #isClosed = false;

  /** Returns a job; throws `job_not_found` if there is none with this id. */
  find(id: string): Job {
    const job = this.#jobs.get(id);
    if (!job) throw jobNotFound(id);
    return job;
  }

  /** True if there is a job with this id, or its process is being started. */
  has(id: string): boolean {
    return this.#jobs.has(id) || this.#starting.has(id);
  }

  /** Returns a job once its process is started, because before that it can neither get input nor be stopped. */
  async findStarted(id: string): Promise<Job> {
    await this.#starting.get(id)?.catch(() => {});
    return this.find(id);
  }

  list(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  /** The running jobs of a room. */
  inRoom(room: string): readonly Job[] {
    return this.list().filter((job) => job.room === room && !job.state().end);
  }

  /** Starts the process of a job; a second call for the same id waits for the first. */
  async launch(id: string, prepare: () => Promise<JobLaunch>): Promise<void> {
    if (this.#isClosed) throw shuttingDown();
    if (this.#starting.has(id) || this.#jobs.has(id)) return this.#starting.get(id);
    const launched = this.#launch(id, prepare).finally(() => this.#starting.delete(id));
    this.#starting.set(id, launched);
    return launched;
  }

  /** Calls `Job.begin`, if there is a job with this id. */
  begin(id: string): void {
    this.#jobs.get(id)?.begin();
  }

  /** Stops a job when its persistent shell closes; does nothing if its `launch` failed. */
  async stopOnClose(id: string): Promise<JobState | undefined> {
    await this.#starting.get(id)?.catch(() => {});
    return this.#jobs.get(id)?.stop('stopped', stopOnClose);
  }

  /** Forgets an ended job and deletes its output. */
  async dispose(id: string): Promise<void> {
    const job = this.find(id);
    if (!job.state().end) throw stillRunning(id);
    this.#jobs.delete(id);
    await job.dispose();
  }

  /** Makes `launch` throw from now on, stops all jobs and disposes of them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#starting.values());
    await Promise.all(this.list().map((job) => job.stop('stopped', stopOnClose)));
    await Promise.all(this.list().map((job) => job.dispose()));
    this.#jobs.clear();
  }

  async #launch(id: string, prepare: () => Promise<JobLaunch>): Promise<void> {
    const { job, waitsForLaunchMessage, start } = await prepare();
    this.#jobs.set(id, job);
    try {
      job.attach(await start());
      if (!waitsForLaunchMessage) job.begin();
    } catch (error) {
      if (error instanceof NotExecutableError) return job.refuse(error.message);
      this.#jobs.delete(id);
      throw error;
    }
  }
}
