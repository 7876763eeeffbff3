import { NacreError } from '../../contract/failure.ts';
import {
  type ExecMode,
  type Isolation,
  type RequestedIsolation,
  type SupervisionLevel,
  supervisionLevels,
} from '../../contract/isolation.ts';
import { withoutGuard } from '../exec/choose-exec-guard.ts';
import { tightenIsolation } from '../sandbox/sandbox-plan.ts';
import { supervisors } from '../supervision/supervisor.ts';
import { createGroupStarter } from './group-starter.ts';
import type { SupervisedDeps } from './keeper-plan.ts';
import type { Starter } from './starter.ts';
import { SupervisedStarter } from './supervised-starter.ts';

/** The settings that `chooseStarter` follows. */
export interface StarterOptions {
  /** The lowest acceptable level; below it `chooseStarter` throws. */
  readonly supervisionRequire: SupervisionLevel;
  /** The highest level to try; tests lower it. */
  readonly highestLevel: SupervisionLevel;
  readonly exec: ExecMode;
}

/** Returns the best starter that works here, found with `SupervisedStarter.probe`; throws if its level is too low. */
export async function chooseStarter(deps: SupervisedDeps, options: StarterOptions): Promise<Starter> {
  checkNetwork(deps.isolation);
  const starter =
    (await findSupervised(deps, options.highestLevel)) ?? createGroupStarter(withoutExecGuard(deps, options));
  if (rank(starter.level) < rank(options.supervisionRequire))
    throw levelTooLow(starter.level, options.supervisionRequire);
  return withSandboxCheck(starter, deps.isolation);
}

async function findSupervised(deps: SupervisedDeps, highest: SupervisionLevel): Promise<Starter | undefined> {
  if (deps.isolation.processes === 'host') return undefined;
  for (const supervisor of supervisors) {
    if (rank(supervisor.level) > rank(highest)) continue;
    const starter = new SupervisedStarter(supervisor, deps);
    if (await starter.probe().catch(() => false)) return starter;
    await starter.close();
  }
  return undefined;
}

// The guard is started in front of a keeper's shell, and at level `group` there is no keeper.
function withoutExecGuard(deps: SupervisedDeps, { exec }: StarterOptions): SupervisedDeps {
  if (deps.execEnforcement.guard === undefined) return deps;
  return { ...deps, execEnforcement: withoutGuard(exec, 'commands do not run in a namespace of their own') };
}

function rank(level: SupervisionLevel): number {
  return supervisionLevels.indexOf(level);
}

function withSandboxCheck(starter: Starter, settings: Isolation): Starter {
  const check = (requested?: RequestedIsolation) => {
    const { sandbox, processes } = tightenIsolation(settings, requested);
    if (sandbox !== 'off' && starter.level !== 'namespace') throw sandboxUnavailable(sandbox, processes);
  };
  check();
  const { level, exec, waitsForLaunchMessage, hidesOwnFiles, gaps } = starter;
  return {
    ...{ level, exec, waitsForLaunchMessage, hidesOwnFiles, gaps },
    async start(spec, startOptions) {
      check(spec.isolation);
      return starter.start(spec, startOptions);
    },
    close: () => starter.close(),
  };
}

// `network_allow` promises that no other host can be reached, and only a sandbox enforces that.
function checkNetwork({ sandbox, networkAllow }: Isolation): void {
  if (sandbox !== 'off' || networkAllow.length === 0) return;
  throw new NacreError(
    'isolation_unavailable',
    'The setting network_allow has no effect without a sandbox: commands could reach every host.',
    { hint: 'Set sandbox to workspace or strict, or remove network_allow.' },
  );
}

function levelTooLow(found: SupervisionLevel, required: SupervisionLevel): NacreError {
  const message = `Commands can only be supervised at level ${found} here, but the settings require ${required}.`;
  return new NacreError('isolation_unavailable', message, { hint: installHint });
}

function sandboxUnavailable(sandbox: string, processes: Isolation['processes']): NacreError {
  const isOutside = processes === 'host';
  const reason = isOutside
    ? 'processes: host runs commands outside of every namespace'
    : 'bubblewrap does not work';
  const message = `The sandbox ${sandbox} cannot be enforced here: ${reason}.`;
  const hint = isOutside ? 'Set processes to own, or do without a sandbox.' : installHint;
  return new NacreError('isolation_unavailable', message, { hint });
}

const installHint =
  'Install bubblewrap (Debian: apt-get install bubblewrap) and allow user namespaces, or change the settings.';
