import { join } from 'node:path';
import type { Backend } from '../contract/backend.ts';
import type { EnvironmentRules, JobSpec } from '../contract/job.ts';
import type { MachineReport } from '../contract/report.ts';
import { describeLandlock } from './exec/choose-exec-guard.ts';
import { Spool, SpoolQuota } from './io/spool.ts';
import { Job, type JobOptions } from './job.ts';
import { JobRegistry, type Launch } from './job-registry.ts';
import { type Environment, filterEnvironment } from './machine/environment.ts';
import { inspect } from './machine/inspect.ts';
import { Preparation, type PreparedWorker } from './prepare-worker.ts';
import { KeptDaemons } from './processes/kept-daemons.ts';
import { bubblewrapTrial } from './sandbox/bubblewrap.ts';
import { toNetwork } from './sandbox/to-network.ts';
import type { Starter } from './start/starter.ts';
import { unshareTrial } from './supervision/supervisor.ts';
import { loadPty } from './terminal/load-pty.ts';
import type { WorkerOptions } from './worker-options.ts';

/** The part of a `Backend` that a worker implements. */
export type Worker = Omit<Backend, 'abilities'>;

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
  const jobOptions = { ringBytes, spoolBytes, drainMs, killGraceMs, daemons };
  const preparation = new Preparation(options);
  const jobs = new JobRegistry();
  const launch = (spec: JobSpec) =>
    jobs.launch(spec.id, async () =>
      toLaunch(spec, await preparation.get(), { rules: options, quota, jobOptions }),
    );

  return {
    async warmUp() {
      await preparation.get();
    },
    async environmentSecrets(rules) {
      const { env } = await preparation.login();
      return filterEnvironment(env, rules).withheld.map((name) => env[name] ?? '');
    },
    async inspect(query) {
      const { path, ownPlace, shells } = await preparation.get();
      const shell = query.session === undefined ? undefined : await shells.snapshot(query.session);
      return inspect(query, { cwd: options.cwd, ownPlace, home: options.home, path, ...shell });
    },
    async prepare(spec) {
      if (waitsForOrder((await preparation.get()).starter, spec)) await launch(spec);
    },
    async start(spec) {
      await launch(spec);
      jobs.begin(spec.id);
    },
    async read(id, from, readOptions) {
      try {
        return await jobs.find(id).read(from, readOptions);
      } catch (error) {
        // If the job was disposed of during the read, `find` throws the better error.
        jobs.find(id);
        throw error;
      }
    },
    wait: async (id, waitMs) => jobs.find(id).wait(waitMs),
    write: async (id, data, writeOptions) => (await jobs.findStarted(id)).write(data, writeOptions),
    stop: async (id, stopOptions) => (await jobs.findStarted(id)).stop('stopped', stopOptions),
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
    async close() {
      preparation.refuse();
      await jobs.close();
      await daemons.close();
      await preparation.close();
    },
    usage: async () => ({ spoolBytes: quota.usedBytes }),
    report: async () => toReport(await preparation.get(), options),
  };
}

interface LaunchDeps {
  readonly rules: EnvironmentRules;
  readonly quota: SpoolQuota;
  readonly jobOptions: JobOptions;
}

async function toLaunch(
  requested: JobSpec,
  prepared: PreparedWorker,
  { rules, quota, jobOptions }: LaunchDeps,
): Promise<Launch> {
  const { starter, shells, folders } = prepared;
  const spec = await shells.withSessionState(requested);
  const { session } = spec;
  const { baseEnv, withheld } = toBaseEnvironment(spec, prepared, rules);
  const spool = new Spool(join(folders.path, 'spool', spec.id), quota);
  return {
    job: new Job(spec, { spool, withheldEnv: withheld }, jobOptions),
    waitsForOrder: waitsForOrder(starter, spec),
    start: () =>
      session === undefined ? starter.start(spec, { baseEnv }) : shells.start(session, spec, baseEnv),
  };
}

// A persistent shell runs a command as soon as it gets it, so `prepare` does nothing for it.
function waitsForOrder(starter: Starter, { session }: JobSpec): boolean {
  return starter.waitsForOrder && session === undefined;
}

// `baseEnv` is undefined for a command without its own rules, so that it can use a shell that was started ahead.
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
  const { bash, path, loginNote, withheld, folders, starter } = prepared;
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
    trials: { bubblewrap: bubblewrapTrial, unshare: unshareTrial },
    gaps: starter.gaps,
  };
}
