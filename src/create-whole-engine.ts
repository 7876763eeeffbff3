import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Settings } from './all-settings.ts';
import type { Backend } from './contract/backend.ts';
import { NacreError } from './contract/failure.ts';
import type { Engine } from './engine/create-engine.ts';
import type { WorkerOptions } from './worker/worker.ts';

/** Where an engine stands: the environment and the directory of the process. */
export interface Standing {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The listed programs; undefined when everything may run. */
  readonly execAllow?: readonly string[] | undefined;
  /** The settings file that was named in place of the user's. */
  readonly config?: string | undefined;
}

/** Makes the engine and all its parts; they are loaded only now, since not every door runs commands. */
export async function createWholeEngine(
  values: Settings,
  { env, cwd, execAllow, config }: Standing,
  createBackend: (options: Omit<WorkerOptions, 'table'>) => Promise<Backend>,
): Promise<Engine> {
  const [
    { createEngine },
    { maskBackend },
    { createSessions },
    { createAuditLog },
    { readAuditKey },
    { createMask, createRedact },
    { filterEnvironment },
  ] = await Promise.all([
    import('./engine/create-engine.ts'),
    import('./engine/masked-backend.ts'),
    import('./sessions/sessions.ts'),
    import('./audit/audit-log.ts'),
    import('./audit/audit-key.ts'),
    import('./audit/redact.ts'),
    import('./worker/environment.ts'),
  ]);
  const home = homeOf(env);
  const stateDir = resolve(cwd, values.stateDir ?? stateDirOf(env));
  const environment = Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  const { withheld } = filterEnvironment(environment, {
    ...values,
    envWithhold: [...values.envWithhold, ...values.shellExecuteEnvWithhold],
  });
  const { dir: auditDir, keyPath } = auditPlace(values, { env, cwd });
  const secrets = withheld.map((name) => environment[name] ?? '');
  const plain = await createBackend({
    ...values,
    stateDir,
    cwd: toCanonical(cwd),
    home,
    environment,
    highestLevel: 'namespace',
    execAllow,
    execGuard: fileURLToPath(new URL('./exec-guard.js', import.meta.url)),
    ownFiles: [auditDir, configDirOf(env), ...given([config, keyPath, values.tokenFile, values.tlsKey], cwd)],
  });
  const backend = values.redactOutput ? maskBackend(plain, createMask(secrets)) : plain;
  return createEngine({
    backend,
    sessions: createSessions(backend, values),
    audit: createAuditLog({
      dir: auditDir,
      fsync: values.auditFsync,
      key: keyPath === undefined ? undefined : () => readAuditKey(keyPath),
      retention: { keepDays: values.auditKeepDays, maxBytes: values.auditMaxBytes },
      redact: createRedact(secrets),
    }),
    cancelling: { signal: 'SIGTERM', graceMs: values.killGraceMs },
  });
}

/** Where the audit log and its key are. */
export function auditPlace(
  values: Settings,
  { env, cwd }: Standing,
): { readonly dir: string; readonly keyPath: string | undefined } {
  const stateDir = resolve(cwd, values.stateDir ?? stateDirOf(env));
  const dir = resolve(cwd, values.auditDir ?? join(stateDir, 'audit'));
  return { dir, keyPath: values.auditKey === undefined ? undefined : resolve(cwd, values.auditKey) };
}

function given(paths: readonly (string | undefined)[], cwd: string): readonly string[] {
  return paths.flatMap((path) => (path === undefined ? [] : [resolve(cwd, path)]));
}

/** The home directory that an environment names. */
export function homeOf(env: Standing['env']): string {
  return env.HOME || homedir();
}

function configDirOf(env: Standing['env']): string {
  return join(env.XDG_CONFIG_HOME || join(homeOf(env), '.config'), 'nacre');
}

function stateDirOf(env: Standing['env']): string {
  return join(env.XDG_STATE_HOME || join(homeOf(env), '.local', 'state'), 'nacre');
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
