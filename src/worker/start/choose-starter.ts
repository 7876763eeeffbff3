import { NacreError } from '../../contract/failure.ts';
import {
  type Isolation,
  type SandboxName,
  type SupervisionLevel,
  supervisionLevels,
} from '../../contract/isolation.ts';
import type { NamespaceFault } from '../../contract/report.ts';
import type { ExecEnforcement } from '../exec/choose-exec-guard.ts';
import type { WorkingGuard } from '../guard/create-guard.ts';
import { type LandlockSandbox, networkAllowGap } from '../sandbox/landlock-sandbox.ts';
import { tightenIsolation } from '../sandbox/workspace.ts';
import { supervisors } from '../supervision/supervisor.ts';
import { GroupStarter } from './group-starter.ts';
import type { SupervisedDeps } from './keeper-plan.ts';
import type { Starter } from './starter.ts';
import { SupervisedStarter } from './supervised-starter.ts';

/** The settings that `chooseStarter` follows. */
export interface StarterOptions {
  /** The lowest acceptable level; below it `chooseStarter` throws. */
  readonly supervisionRequire: SupervisionLevel;
  /** The highest level to try; tests lower it. */
  readonly highestLevel: SupervisionLevel;
}

/** `StarterOptions`, and the `ExecEnforcement` of most commands: shells for them are started in advance. */
interface StarterWish extends StarterOptions {
  readonly exec: ExecEnforcement;
}

/** Checks of the machine that run only if bubblewrap does not work. */
export interface StarterMachine {
  /** A guard that restricts files, or the reason why Landlock cannot be used. */
  findLandlock(): Promise<WorkingGuard | { readonly reason: string }>;
  /** Prepares the folders of a sandbox by Landlock. */
  prepareLandlock(found: WorkingGuard): LandlockSandbox;
  /** Moves FIFOs out of /dev/shm: sandboxes by Landlock, also of other servers, leave it writable. */
  leaveSharedMemory(): Promise<void>;
  findFault(): Promise<NamespaceFault>;
}

/** Returns the best starter that works here, found with `SupervisedStarter.probe`; throws if its level is too low. */
export async function chooseStarter(
  deps: SupervisedDeps,
  options: StarterWish,
  machine: StarterMachine,
): Promise<Starter> {
  checkNetwork(deps.isolation);
  const starter =
    (await findSupervised(deps, ['namespace'], options)) ?? (await createUnmounted(deps, options, machine));
  if (rank(starter.level) >= rank(options.supervisionRequire)) return starter;
  await starter.close();
  throw await levelTooLow(starter.level, options.supervisionRequire, machine);
}

async function findSupervised(
  deps: SupervisedDeps,
  levels: readonly SupervisionLevel[],
  { highestLevel, exec }: StarterWish,
): Promise<Starter | undefined> {
  if (deps.isolation.processes === 'host') return undefined;
  for (const supervisor of supervisors) {
    if (!levels.includes(supervisor.level) || rank(supervisor.level) > rank(highestLevel)) continue;
    const starter = new SupervisedStarter(supervisor, deps);
    if (await starter.probe(exec).catch(() => false)) return starter;
    await starter.close();
  }
  return undefined;
}

/**
 * A starter without bubblewrap, whose sandbox is Landlock. If the settings ask for no sandbox, a second starter is
 * created when a call asks for one.
 */
async function createUnmounted(
  deps: SupervisedDeps,
  options: StarterWish,
  machine: StarterMachine,
): Promise<Starter> {
  await machine.leaveSharedMemory();
  const create = async (sandbox: SandboxName): Promise<Starter> => {
    const landlock = sandbox === 'off' ? undefined : await requireLandlock(sandbox, deps.isolation, machine);
    return startWithout({ ...deps, landlock }, options);
  };
  const main = await create(deps.isolation.sandbox);
  let sandboxed: Promise<Starter> | undefined;
  return {
    level: main.level,
    hidesOwnFiles: main.hidesOwnFiles,
    waitsForLaunchMessage: (exec) => main.waitsForLaunchMessage(exec),
    gaps: (exec) => main.gaps(exec),
    rooms: undefined,
    async closeRoom() {},
    async start(spec, startOptions) {
      const { sandbox } = tightenIsolation(deps.isolation, spec.isolation);
      if (sandbox === deps.isolation.sandbox) return main.start(spec, startOptions);
      if (sandbox === 'strict') throw await sandboxUnavailable(sandbox, deps.isolation, machine);
      sandboxed ??= create(sandbox).catch((error: unknown) => {
        sandboxed = undefined;
        throw error;
      });
      return (await sandboxed).start(spec, startOptions);
    },
    async close() {
      const other = await sandboxed?.catch(() => undefined);
      await Promise.all([main.close(), other?.close()]);
    },
  };
}

async function startWithout(deps: SupervisedDeps, options: StarterWish): Promise<Starter> {
  // A proxy is the only way out only in a network namespace.
  const usable = { ...deps, isolation: { ...deps.isolation, networkAllow: [] } };
  const supervised = await findSupervised(usable, ['unshare'], options);
  if (supervised) return supervised;
  const starter = new GroupStarter(usable);
  await starter.warmUp(options.exec);
  return starter;
}

function rank(level: SupervisionLevel): number {
  return supervisionLevels.indexOf(level);
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

async function requireLandlock(
  sandbox: SandboxName,
  isolation: Isolation,
  machine: StarterMachine,
): Promise<LandlockSandbox> {
  const found = await machine.findLandlock();
  if (sandbox === 'strict' || 'reason' in found) throw await sandboxUnavailable(sandbox, isolation, machine);
  return { ...machine.prepareLandlock(found), gaps: networkAllowGap(isolation) };
}

async function levelTooLow(
  found: SupervisionLevel,
  required: SupervisionLevel,
  machine: StarterMachine,
): Promise<NacreError> {
  const { reason, fix } = await machine.findFault();
  const message = `Commands can only be supervised at level ${found} here, but the settings require ${required}: ${reason}.`;
  return new NacreError('isolation_unavailable', message, {
    hint: `${toSentence(fix)} Or change supervision_require.`,
  });
}

async function sandboxUnavailable(
  sandbox: SandboxName,
  { processes }: Isolation,
  machine: StarterMachine,
): Promise<NacreError> {
  const found = await machine.findLandlock();
  const { reason, fix } = processes === 'host' ? onHost : await machine.findFault();
  const landlock =
    'reason' in found
      ? `Landlock is not available either: ${found.reason}`
      : 'Landlock can only enforce workspace';
  const message = `The sandbox ${sandbox} cannot be enforced here: ${reason}. ${landlock}.`;
  const alternative = 'reason' in found ? 'off' : 'workspace';
  return new NacreError('isolation_unavailable', message, {
    hint: `${toSentence(fix)} Or set sandbox to ${alternative}.`,
  });
}

function toSentence(fix: string): string {
  return fix.endsWith('.') ? fix : `${fix}.`;
}

const onHost: NamespaceFault = {
  kind: 'forbidden',
  reason: 'processes: host runs commands outside of every namespace',
  fix: 'Set processes to own.',
};
