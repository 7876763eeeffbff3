import { isDeepStrictEqual } from 'node:util';
import type { Isolation } from '../../contract/isolation.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { ChangesStore } from '../changes/changes-store.ts';
import { type Environment, forPipes, forTerminal, toCommandEnvironment } from '../machine/environment.ts';
import { toProxyEnvironment } from '../network/bridge.ts';
import { isHostAllowed } from '../network/host-rules.ts';
import { toCacheEnvironment } from '../sandbox/cache-environment.ts';
import { type SandboxDeps, type SandboxPlan, toNetwork, toSandboxPlan } from '../sandbox/sandbox-plan.ts';
import { defaultDirectory, toWritable } from '../sandbox/workspace.ts';
import { type LaunchMessage, toLaunchMessage } from '../supervision/keeper-script.ts';
import type { StartDeps } from './starter.ts';

/** The dependencies of a `SupervisedStarter`. */
export interface SupervisedDeps extends StartDeps, SandboxDeps {
  /** The isolation from the settings; a command may request a stricter one (`tightenIsolation`). */
  readonly isolation: Isolation;
  /** The size of each `KeeperPool`. */
  readonly warmShells: number;
  /** Where the folders of `Rooms` are. */
  readonly roomsFolder: string;
  /** Layers for commands whose changes are tracked or held. */
  readonly changes: ChangesStore;
}

/** The plan that most commands share; undefined if the settings' workspace is refused, which each command reports. */
export function toDefaultPlan(deps: SupervisedDeps): SandboxPlan | undefined {
  try {
    const { cwd, isolation } = deps;
    return toSandboxPlan(deps, isolation, defaultDirectory({ ...isolation, cwd }));
  } catch {
    return undefined;
  }
}

/** A plan with `sandbox: off`, to probe whether keepers start at all. */
export function toProbePlan(deps: SupervisedDeps): SandboxPlan {
  return toSandboxPlan(deps, { ...deps.isolation, sandbox: 'off' }, deps.cwd);
}

/** True if a command can run in a keeper that was started with `plan`. */
export function fitsPlan(
  plan: SandboxPlan,
  deps: SupervisedDeps,
  isolation: Isolation,
  cwd: string,
): boolean {
  return (
    isolation.sandbox === plan.isolation.sandbox &&
    isDeepStrictEqual(toWritable(deps, isolation, cwd), plan.writable) &&
    isDeepStrictEqual(deps.ownFiles.find(), plan.ownFiles)
  );
}

/** The parts of `toKeeperEnvironment` that differ between commands. */
export interface KeeperVariables {
  readonly baseEnv: Environment;
  readonly atTerminal: boolean;
  /** The folder for caches in a sandbox (`toCacheEnvironment`). */
  readonly cacheFolder?: string | undefined;
}

/** The environment of a command in a namespace, or behind the guard. */
export function toKeeperEnvironment(
  { isolation }: SandboxPlan,
  instance: Environment,
  { baseEnv, atTerminal, cacheFolder }: KeeperVariables,
): Environment {
  const network = toNetwork(isolation);
  const isFiltered = network === 'filtered';
  const canReach = (host: string) =>
    network === 'on' || (isFiltered && isHostAllowed(host, 443, isolation.networkAllow));
  const caches = toCacheEnvironment({ sandbox: isolation.sandbox, folder: cacheFolder, canReach }, baseEnv);
  const additions = isFiltered ? { ...caches, ...toProxyEnvironment(isolation.networkAllow) } : caches;
  return toCommandEnvironment(atTerminal ? forTerminal(baseEnv) : forPipes(baseEnv), additions, instance);
}

// A pipe has room for a limited number of bytes, so longer scripts are passed in a file (descriptor 6).
const maxLaunchScriptBytes = 8_192;

/** The script of a command if it is longer than `maxLaunchScriptBytes`. */
export function toLongScript({ command }: JobSpec): string | undefined {
  const isLong = command.kind === 'shell' && Buffer.byteLength(command.script) > maxLaunchScriptBytes;
  return isLong ? command.script : undefined;
}

/** The launch message for a command; `prelude` is bash code that applies its limits. */
export function toJobLaunchMessage(spec: JobSpec, prelude: string): LaunchMessage {
  const { id, cwd, env, stdin, terminal } = spec;
  const command = toLongScript(spec) === undefined ? spec.command : 'file';
  const atTerminal = terminal !== undefined;
  return toLaunchMessage({ command, cwd, env: { ...env, NACRE_COMMAND_ID: id }, stdin, prelude, atTerminal });
}
