import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Backend } from '../contract/backend.ts';
import { NacreError } from '../contract/failure.ts';
import type { Engine } from '../engine/engine.ts';
import type { Settings } from '../rules/all-settings.ts';
import { configHomeOf, homeOf } from '../rules/home-folders.ts';
import type { SettingsLocation } from '../rules/settings-source.ts';
import { isPaused } from '../support/pause-mark.ts';
import type { WorkerOptions } from '../worker/worker.ts';
import { toPlaces } from './places.ts';

/** The process that an engine runs in. */
export interface EngineHost extends SettingsLocation {
  /** Writes a log line; log lines are discarded if absent. */
  readonly log?: ((line: string) => void) | undefined;
  /** The listed programs; undefined if every program may run. */
  readonly execAllow?: readonly string[] | undefined;
  /** Opens the control socket, so that approval requests can wait for an answer; absent if the process is not a server. */
  readonly openInbox?: (() => Promise<void>) | undefined;
}

/** Makes the engine and all its parts; they are loaded only now, since not every door runs commands. */
export async function createWholeEngine(
  values: Settings,
  { env, cwd, execAllow, config, log, openInbox }: EngineHost,
  createBackend: (options: Omit<WorkerOptions, 'table'>) => Promise<Backend>,
): Promise<Engine> {
  const [
    { createEngine },
    { maskOutput: maskBackend },
    { hideTypedSecrets: hideTyped },
    { createSessions },
    { createAuditLog },
    { readAuditKey },
    { createMask, createRedact },
    { toLogLine },
    { recordOutput: recordBackend },
    { createRecordings },
    { filterEnvironment },
    { asksLoginShell },
  ] = await Promise.all([
    import('../engine/create-engine.ts'),
    import('../backends/layers/mask-output.ts'),
    import('../backends/layers/hide-typed.ts'),
    import('../sessions/sessions.ts'),
    import('../audit/audit-log.ts'),
    import('../audit/audit-key.ts'),
    import('../audit/redact.ts'),
    import('../monitor/log-line.ts'),
    import('../backends/layers/record-output.ts'),
    import('../recordings/recordings.ts'),
    import('../worker/machine/environment.ts'),
    import('../worker/machine/login-environment.ts'),
  ]);
  const home = homeOf(env);
  const environment = Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const envWithhold = [...values.envWithhold, ...values.shellExecuteEnvWithhold];
  const secretsIn = (all: Readonly<Record<string, string>>) =>
    filterEnvironment(all, { ...values, envWithhold }).withheld.map((name) => all[name] ?? '');
  const toHiding = (secrets: readonly string[]) => ({
    redact: createRedact(secrets),
    mask: createMask(secrets),
  });
  let hiding = toHiding(secretsIn(environment));
  const { stateDir, audit, recordingDir, controlDir } = toPlaces(values, { env, cwd });
  const { dir: auditDir, keyPath } = audit;
  const plain = await createBackend({
    ...values,
    stateDir,
    cwd: toCanonical(cwd),
    home,
    environment,
    onEnvironment(whole) {
      hiding = toHiding([...secretsIn(environment), ...secretsIn(whole)]);
    },
    highestLevel: 'namespace',
    execAllow,
    execGuard: fileURLToPath(new URL('./exec-guard.js', import.meta.url)),
    // The file is named beside its folder, since it may be a link to another place.
    ownFiles: [
      auditDir,
      join(configHomeOf(env), 'nacre'),
      join(configHomeOf(env), 'nacre', 'config.yaml'),
      ...given([config, keyPath, values.tokenFile, values.tlsKey], cwd),
    ],
  });
  const hidden = hideTyped(plain);
  const masked = values.redactOutput ? maskBackend(hidden, () => hiding.mask) : hidden;
  const backend = values.record
    ? recordBackend(
        masked,
        createRecordings(recordingDir, {
          keepDays: values.auditKeepDays,
          maxBytes: values.recordMaxBytes,
        }),
      )
    : masked;
  const auditLog = createAuditLog({
    dir: auditDir,
    fsync: values.auditFsync,
    key: keyPath === undefined ? undefined : () => readAuditKey(keyPath),
    retention: { keepDays: values.auditKeepDays, maxBytes: values.auditMaxBytes },
    redact: (text) => hiding.redact(text),
  });
  // The login shell may know more secrets; the first record has to hide them, too.
  if (asksLoginShell(environment, values.loginEnv))
    await plain.inspect({ cwd: undefined, roots: [], programs: [] }).catch(() => {});
  auditLog.subscribe((record) => {
    const line = toLogLine(record, values);
    if (line !== null) log?.(line);
  });
  if (values.traces) {
    const [{ createSpans }, { loadTraceApi }] = await Promise.all([
      import('../monitor/spans.ts'),
      import('../monitor/trace-api.ts'),
    ]);
    auditLog.subscribe(createSpans(loadTraceApi()));
  }
  return createEngine({
    backend,
    sessions: createSessions(backend, values),
    audit: auditLog,
    cancelling: { signal: 'SIGTERM', graceMs: values.killGraceMs },
    isPaused: () => isPaused(controlDir),
    approvals: openInbox && { deadlineMs: values.approvalSeconds * 1_000, open: openInbox },
  });
}

function given(paths: readonly (string | undefined)[], cwd: string): readonly string[] {
  return paths.flatMap((path) => (path === undefined ? [] : [resolve(cwd, path)]));
}

function toCanonical(cwd: string): string {
  try {
    return realpathSync(cwd);
  } catch (cause) {
    throw new NacreError('cwd_invalid', `The working directory ${cwd} does not exist any more.`, {
      hint: 'Change to another directory and start nacre there.',
      cause,
    });
  }
}
