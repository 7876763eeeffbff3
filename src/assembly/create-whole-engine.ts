// Creates the engine with everything it uses:
// 1. the backend, 2. the secrets to hide in records and output, 3. the backend layers (`backends/layers`),
// 4. the audit log with its listeners, 5. the engine. Modules are loaded here, since not every door runs commands.
import { realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AuditLog, AuditLogOptions } from '../audit/audit-log.ts';
import type { Mask, Redact } from '../audit/redact.ts';
import type { RedactFor } from '../audit/redact-machines.ts';
import type { DetachedOptions } from '../backends/catalog.ts';
import type { Backend } from '../contract/backend.ts';
import { NacreError, shuttingDown } from '../contract/failure.ts';
import type { ExecList } from '../contract/isolation.ts';
import type { EnvironmentRules } from '../contract/job.ts';
import type { Machines } from '../contract/machine.ts';
import type { Places, Program } from '../doors/door.ts';
import type { Engine } from '../engine/engine.ts';
import type { WantedPort } from '../engine/ports/ports.ts';
import type { MachineDeps } from '../machines/create-machine-backend.ts';
import type { Settings } from '../rules/all-settings.ts';
import { configHomeOf, homeOf } from '../rules/home-folders.ts';
import type { SettingsLocation } from '../rules/resolve-now.ts';
import type { Resolved } from '../rules/rules-for.ts';
import { isPaused } from '../support/pause-mark.ts';
import { umaskOfCommands } from '../support/umask.ts';
import { workerSettings } from '../worker/settings.ts';
import type { WorkerOptions } from '../worker/worker-options.ts';
import { toPlaces } from './places.ts';
import { version } from './version.ts';
import { withMachines } from './with-machines.ts';

/** The process that an engine runs in: its `env`, `cwd` and `--config`, and how to reach its user. */
export interface EngineHost extends SettingsLocation {
  /** Writes a log line (`log_level`). */
  readonly log?: ((line: string) => void) | undefined;
  /** The command line's program; absent if another program uses nacre as a library. */
  readonly program?: Program | undefined;
  /** Loads the function that returns the programs that `exec` permits; undefined if every program may run. */
  loadExecAllow(): Promise<() => ExecList | undefined>;
  /** Opens the control socket, so that `nacre approvals` can answer approval requests; absent if the process is not a server. */
  readonly openInbox?: (() => Promise<void>) | undefined;
}

type LocalOptions = Omit<WorkerOptions, 'table'>;

/** The parts of `createWholeEngine` that are not settings. */
export interface EngineParts {
  readonly createBackend: CreateBackend;
  /** Whether commands outlive the process: `view` only shows them. */
  readonly mode?: 'use' | 'view' | undefined;
  /** Other machines. */
  readonly machines?: Machines | undefined;
}

/** Creates the backend of an engine. */
type CreateBackend = (options: LocalOptions, detached: DetachedOptions) => Promise<Backend>;

/** Creates the engine for `engineOnDemand`. */
export async function createWholeEngine(
  values: Settings,
  host: EngineHost,
  { createBackend, mode, machines }: EngineParts,
): Promise<Engine> {
  const [{ createEngine }, { createSessions }, { openSavedApprovals }] = await Promise.all([
    import('../engine/create-engine.ts'),
    import('../sessions/sessions.ts'),
    import('../engine/approval/saved-approvals.ts'),
  ]);
  const places = toPlaces(values, host);
  const execAllow = await host.loadExecAllow();
  const options = toWorkerOptions(values, { ...host, execAllow }, places);
  const here = await createBackend(options, toDetachedOptions(values, options, host));
  const { worker, redactFor } = machines
    ? await addMachines(here, machines, { ...toMachineDeps(values, host), stateDir: places.stateDir, mode })
    : { worker: here };
  const hiding = await createHiding(values, host, worker);
  const backend = await addLayers(worker, values, places, hiding.mask);
  const { openInbox } = host;
  const approvals = openInbox && { deadlineMs: values.approvalSeconds * 1_000, open: openInbox };
  const saved =
    mode === 'use' ? openSavedApprovals(join(places.stateDir, 'approvals'), options.cwd) : undefined;
  const engine = createEngine({
    backend,
    sessions: createSessions(backend, values),
    audit: await createAudit(values, places, { redact: hiding.redact, redactFor }, host.log),
    stopOnCancel: { signal: 'SIGTERM', graceMs: values.killGraceMs },
    outlive: mode && { mode, project: options.cwd },
    isPaused: () => isPaused(places.controlDir),
    wantedPorts: values.ports.map(toWantedPort),
    approvals: approvals && { ...approvals, saved },
  });
  return withMachines(engine, machines);
}

async function addMachines(
  here: Backend,
  { others }: Machines,
  { stateDir, mode = 'use', ...deps }: MachineDeps & Pick<Places, 'stateDir'> & Pick<EngineParts, 'mode'>,
): Promise<{ readonly worker: Backend; readonly redactFor: RedactFor }> {
  const [
    { routeMachines },
    { createMachineBackend },
    { FarOutlive },
    { openFarRecords },
    { openFarChanges },
    { createRedactFor },
  ] = await Promise.all([
    import('../machines/route-machines.ts'),
    import('../machines/create-machine-backend.ts'),
    import('../machines/far-outlive.ts'),
    import('../machines/far-records.ts'),
    import('../machines/far-changes.ts'),
    import('../audit/redact-digests.ts'),
  ]);
  const backends = new Map(
    others.map((machine) => [machine.name, createMachineBackend(machine, deps, mode)] as const),
  );
  const outlive = new FarOutlive({ records: openFarRecords(stateDir), mode });
  const redactFor = createRedactFor((machine) => backends.get(machine)?.secrets());
  const farChanges = openFarChanges(stateDir);
  return { worker: routeMachines(here, backends, { outlive, farChanges }), redactFor };
}

/**
 * Values that connections to other machines need. `options` leaves out paths of this machine, which mean nothing there.
 */
export function toMachineDeps(
  values: Settings,
  host: Pick<EngineHost, 'cwd' | 'env' | 'program'>,
): MachineDeps {
  const { bash: _bash, stateDir: _stateDir, ...own } = pickWorkerSettings(values);
  return {
    cwd: toCanonical(host.cwd),
    environment: definedIn(host.env),
    build: version,
    program: workerProgramOf(host),
    tombstoneMs: values.tombstoneSeconds * 1_000,
    secretRules: toSecretRules(values),
    redactOutput: values.redactOutput,
    options: { ...own, workspace: [], umask: umaskOfCommands() ?? process.umask() },
  };
}

// The worker gets no other settings, such as tokens, because it does not need them.
function pickWorkerSettings(values: Settings): Readonly<Record<string, unknown>> {
  const names = Object.keys(workerSettings) as (keyof typeof workerSettings)[];
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

// `3000`, or `3000:8080` for another port on 127.0.0.1.
function toWantedPort(entry: string): WantedPort {
  const [port = 0, hostPort = port] = entry.split(':').map(Number);
  return { port, hostPort };
}

function toWorkerOptions(
  values: Settings,
  { env, cwd, config, execAllow }: EngineHost & Pick<WorkerOptions, 'execAllow'>,
  { stateDir, audit }: Places,
): Omit<WorkerOptions, 'table'> {
  return {
    ...values,
    stateDir,
    cwd: toCanonical(cwd),
    home: homeOf(env),
    environment: definedIn(env),
    highestLevel: 'namespace',
    execAllow,
    execGuard: fileURLToPath(new URL('./exec-guard.js', import.meta.url)),
    // `config.yaml` is listed in addition to its folder, because it may be a symlink to a file elsewhere.
    ownFiles: [
      audit.dir,
      join(configHomeOf(env), 'nacre'),
      join(configHomeOf(env), 'nacre', 'config.yaml'),
      ...[config, audit.keyPath, values.tokenFile, values.tlsKey].flatMap((path) =>
        path === undefined ? [] : [resolve(cwd, path)],
      ),
    ],
  };
}

function toDetachedOptions(
  values: Settings,
  options: LocalOptions,
  host: Pick<EngineHost, 'log' | 'program'>,
): DetachedOptions {
  const { stateDir, cwd, home, environment, highestLevel, execGuard, ownFiles } = options;
  const own = pickWorkerSettings(values);
  const umask = umaskOfCommands() ?? process.umask();
  return {
    build: version,
    program: workerProgramOf(host),
    isRequired: values.outlive === 'on',
    log: (line) => host.log?.(`${line}\n`),
    orphanMs: values.orphanMs,
    tombstoneMs: values.tombstoneSeconds * 1_000,
    plain: { ...own, stateDir, cwd, home, environment, highestLevel, execGuard, ownFiles, umask },
  };
}

/** The program of the detached worker, in the same folder as the command line's. */
export function workerProgramOf({ program }: Pick<EngineHost, 'program'>): string {
  return program
    ? join(dirname(program.script), 'worker.js')
    : fileURLToPath(new URL('./worker.js', import.meta.url));
}

interface Hiding {
  readonly redact: Redact;
  readonly mask: Mask;
}

// With `login_env`, the login shell may set more secrets than `env` has. They must be known before the first audit record.
async function createHiding(values: Settings, { env }: EngineHost, backend: Backend): Promise<Hiding> {
  const [{ createMask, createRedact }, { filterEnvironment }] = await Promise.all([
    import('../audit/redact.ts'),
    import('../worker/machine/environment.ts'),
  ]);
  const rules = toSecretRules(values);
  const own = definedIn(env);
  const ownSecrets = filterEnvironment(own, rules).withheld.map((name) => own[name] ?? '');
  const secrets = [...ownSecrets, ...(await backend.environmentSecrets(rules))];
  return { redact: createRedact(secrets), mask: createMask(secrets) };
}

function toSecretRules({ envPass, envWithhold, shellExecuteEnvWithhold }: Settings): EnvironmentRules {
  return { envPass, envWithhold: [...envWithhold, ...shellExecuteEnvWithhold] };
}

async function addLayers(
  worker: Backend,
  { redactOutput, record, auditKeepDays, recordMaxBytes }: Settings,
  { recordingDir }: Places,
  mask: Mask,
): Promise<Backend> {
  const [{ stackLayers }, { createRecordings }] = await Promise.all([
    import('../backends/layers/stack-layers.ts'),
    import('../recordings/recordings.ts'),
  ]);
  const limits = { keepDays: auditKeepDays, maxBytes: recordMaxBytes };
  return stackLayers(worker, {
    mask: redactOutput ? mask : undefined,
    recordings: record ? createRecordings(recordingDir, limits) : undefined,
  });
}

async function createAudit(
  values: Settings,
  { audit: { dir, keyPath, retention } }: Places,
  redactors: Pick<AuditLogOptions, 'redact' | 'redactFor'>,
  log: EngineHost['log'],
): Promise<AuditLog> {
  const [{ createAuditLog }, { readAuditKey }] = await Promise.all([
    import('../audit/audit-log.ts'),
    import('../audit/audit-key.ts'),
  ]);
  const auditLog = createAuditLog({
    dir,
    fsync: values.auditFsync,
    key: keyPath === undefined ? undefined : () => readAuditKey(keyPath),
    retention,
    ...redactors,
  });
  if (log !== undefined && values.logLevel !== 'off') {
    const { createLogLines } = await import('../monitor/log-line.ts');
    const toLine = createLogLines(values);
    auditLog.subscribe((record) => {
      const line = toLine(record);
      if (line !== null) log(line);
    });
  }
  if (values.traces) {
    const [{ createSpans }, { loadTraceApi }] = await Promise.all([
      import('../monitor/spans.ts'),
      import('../monitor/trace-api.ts'),
    ]);
    auditLog.subscribe(createSpans(loadTraceApi()));
  }
  return auditLog;
}

function definedIn(env: EngineHost['env']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
}

/** Whether background commands and persistent shells outlive the process: by default those of a server do. */
function commandsOutlive({ outlive }: Settings, { openInbox }: EngineHost): boolean {
  return outlive === 'on' || (outlive === 'auto' && openInbox !== undefined);
}

function toCanonical(cwd: string): string {
  try {
    return realpathSync(cwd);
  } catch (cause) {
    throw new NacreError('cwd_invalid', `The working directory ${cwd} no longer exists.`, {
      hint: 'Change to another directory and start nacre there.',
      cause,
    });
  }
}

/** An engine that is created at the first `open`. */
export interface EngineOnDemand {
  open(): Promise<Engine>;
  /** Kills every command; `open` rejects from then on. */
  close(): Promise<void>;
}

/** Creates the engine at the first `open`. A failure is not cached, so the next call tries again; after `close` it throws `whenClosed`. */
export function engineOnDemand(
  resolved: Resolved,
  host: EngineHost,
  whenClosed: () => NacreError = shuttingDown,
): EngineOnDemand {
  let engine: Promise<Engine> | null = null;
  let closed = false;
  const create = async () => {
    const { backends } = await import('../backends/catalog.ts');
    const { values, machines } = resolved;
    return commandsOutlive(values, host)
      ? createWholeEngine(values, host, { createBackend: backends.outlive, mode: 'use', machines })
      : createWholeEngine(values, host, { createBackend: backends.local, machines });
  };
  return {
    async open() {
      if (closed) throw whenClosed();
      engine ??= create().catch((error: unknown) => {
        engine = null;
        throw error;
      });
      return engine;
    },
    async close() {
      closed = true;
      await (await engine?.catch(() => null))?.close();
    },
  };
}
