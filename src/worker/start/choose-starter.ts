import { NacreError } from '../../contract/failure.ts';
import {
  type AskedIsolation,
  type ExecMode,
  type Isolation,
  type SupervisionLevel,
  supervisionLevels,
} from '../../contract/isolation.ts';
import { withoutGuard } from '../exec/choose-exec-guard.ts';
import { tightenIsolation } from '../sandbox/tighten-isolation.ts';
import { supervisors } from '../supervision/supervisor.ts';
import { createGroupStarter } from './group-starter.ts';
import type { Starter } from './starter.ts';
import { createSupervisedStarter, type SupervisedMeans } from './supervised-starter.ts';

/** What decides on the way. */
export interface StarterChoice {
  /** The least that is acceptable. */
  readonly supervisionRequire: SupervisionLevel;
  /** The most that is tried; tests look at lower rungs of the ladder with it. */
  readonly highestLevel: SupervisionLevel;
  readonly exec: ExecMode;
}

/** The best way to start commands that works on this machine, found by starting something; refuses one that is not enough. */
export async function chooseStarter(means: SupervisedMeans, choice: StarterChoice): Promise<Starter> {
  checkNetwork(means.isolation);
  const starter =
    (await findSupervised(means, choice.highestLevel)) ?? createGroupStarter(unguarded(means, choice));
  if (rank(starter.level) < rank(choice.supervisionRequire))
    throw tooLow(starter.level, choice.supervisionRequire);
  const check = (asked?: AskedIsolation) => {
    const { sandbox, processes } = tightenIsolation(means.isolation, asked);
    if (sandbox !== 'off' && starter.level !== 'namespace') throw noSandbox(sandbox, processes);
  };
  check();
  return {
    ...starter,
    async start(spec, startOptions) {
      check(spec.isolation);
      return starter.start(spec, startOptions);
    },
  };
}

async function findSupervised(
  means: SupervisedMeans,
  highest: SupervisionLevel,
): Promise<Starter | undefined> {
  if (means.isolation.processes === 'host') return undefined;
  for (const supervisor of supervisors) {
    if (rank(supervisor.level) > rank(highest)) continue;
    const starter = createSupervisedStarter(supervisor, means);
    if (await starter.probe().catch(() => false)) return starter;
    await starter.close();
  }
  return undefined;
}

// The guard stands in front of a waiting shell, and such shells wait only in a namespace.
function unguarded(means: SupervisedMeans, { exec }: StarterChoice): SupervisedMeans {
  if (means.execChoice.guard === undefined) return means;
  return { ...means, execChoice: withoutGuard(exec, 'commands do not run in a namespace of their own') };
}

function rank(level: SupervisionLevel): number {
  return supervisionLevels.indexOf(level);
}

// Whoever lists hosts means that no other can be reached, and only a sandbox sees to that.
function checkNetwork({ sandbox, networkAllow }: Isolation): void {
  if (sandbox !== 'off' || networkAllow.length === 0) return;
  throw new NacreError(
    'isolation_unavailable',
    'The setting network_allow has no effect without a sandbox, and commands would reach every host.',
    { hint: 'Set sandbox to workspace or strict, or remove network_allow.' },
  );
}

function tooLow(found: SupervisionLevel, required: SupervisionLevel): NacreError {
  const message = `Commands can only be supervised at the level ${found} here, and the settings require ${required}.`;
  return new NacreError('isolation_unavailable', message, { hint: remedy });
}

function noSandbox(sandbox: string, processes: Isolation['processes']): NacreError {
  const isOutside = processes === 'host';
  const reason = isOutside
    ? 'processes: host leaves commands outside of every namespace'
    : 'bubblewrap does not work';
  const message = `The sandbox ${sandbox} cannot be enforced here: ${reason}.`;
  const hint = isOutside ? 'Set processes to own, or do without a sandbox.' : remedy;
  return new NacreError('isolation_unavailable', message, { hint });
}

const remedy =
  'Install bubblewrap (Debian: apt-get install bubblewrap) and allow user namespaces, or change the settings.';
