// `nacre uninstall`: 1. lists what it would remove, and asks, 2. removes the entries of clients and the service, so that no
// server is started again, 3. ends the running servers, 4. removes nacre's files and prints how to remove the package.
import { NacreError } from '../../contract/failure.ts';
import type { ServerFolder } from '../../servers/reach-servers.ts';
import type { ServerStatus } from '../../servers/server-status.ts';
import { escapeControls } from '../../support/escape-controls.ts';
import { createAsk } from '../ask.ts';
import type {
  DiagnosisAccess,
  DisplayAccess,
  FlagAccess,
  HttpAccess,
  IoAccess,
  PlaceAccess,
  ProcessAccess,
  WorkerAccess,
} from '../door.ts';
import { problemExit } from '../exit-codes.ts';
import { print } from '../print.ts';
import { findServers, stopServers } from './stop-servers.ts';
import { describeRemoval } from './uninstall/describe-package.ts';
import { type PlannedClients, planClients } from './uninstall/plan-clients.ts';
import { type PlannedFiles, planFiles } from './uninstall/plan-files.ts';
import type { Removal } from './uninstall/removal.ts';

interface Flags {
  readonly yes: boolean;
  readonly keepSettings: boolean;
}

type UninstallDeps = FlagAccess<Flags> &
  IoAccess &
  DisplayAccess &
  PlaceAccess &
  ProcessAccess &
  ServerFolder &
  WorkerAccess &
  Pick<HttpAccess, 'http'> &
  Pick<DiagnosisAccess, 'settingsFault'>;

interface Plan extends PlannedClients, PlannedFiles {
  readonly servers: readonly ServerStatus[];
}

/** Removes nacre from this machine, except for the package itself. */
export async function uninstallDoor(deps: UninstallDeps): Promise<number> {
  const plan = await createPlan(deps);
  await print(deps.io.stdout, describePlan(deps, plan));
  if (!(await isConfirmed(deps))) {
    await print(deps.io.stdout, 'Nothing was removed.\n');
    return 0;
  }
  const failures = await carryOut(deps, plan);
  const reload =
    plan.services.length === 0
      ? ''
      : 'Run systemctl --user daemon-reload, so that systemd forgets the unit.\n';
  const shells = plan.shellsOff.map(
    (line) => `${deps.display.paint.warning('warning')}: ${escapeControls(line)}\n`,
  );
  await print(deps.io.stdout, `${shells.join('')}${reload}${describeRemoval(deps)}\n`);
  return failures === 0 ? 0 : problemExit;
}

async function createPlan(deps: UninstallDeps): Promise<Plan> {
  const { servers, failed } = await findServers(deps);
  const [unreachable] = failed;
  // A server that does not reply may still write to the state folder.
  if (unreachable) throw unreachable;
  return { ...planClients(deps), ...planFiles(deps, deps.flags.keepSettings), servers };
}

function describePlan({ display, settingsFault }: UninstallDeps, plan: Plan): string {
  const { paint } = display;
  const section = (title: string, lines: readonly string[]) =>
    lines.length === 0
      ? ''
      : `${paint.heading(title)}\n${lines.map((line) => `  ${escapeControls(line)}\n`).join('')}`;
  const removals = [...plan.entries, ...plan.services, ...plan.files];
  return [
    settingsFault
      ? `${paint.warning('warning')}: your settings are invalid; of them, only state_dir applies.\n`
      : '',
    section(
      'Running servers to end:',
      plan.servers.map(
        ({ pid, door, clients }) =>
          `${pid} (${door}${clients.length > 0 ? `, for ${clients.join(', ')}` : ''})`,
      ),
    ),
    section(
      'To be removed:',
      removals.map(({ what, path }) => `${path}: ${what}`),
    ),
    section('To be kept:', [...plan.kept, ...plan.problems, ...plan.shellsOff]),
    removals.length + plan.servers.length === 0 ? 'There is nothing to remove.\n' : '',
  ].join('');
}

async function isConfirmed({ io, flags }: UninstallDeps): Promise<boolean> {
  if (flags.yes) return true;
  const ask = createAsk(io);
  if (ask === undefined)
    throw new NacreError(
      'invalid_request',
      'nacre uninstall asks before it removes anything, but stdin is not a terminal.',
      {
        hint: 'Run it at a terminal, or pass --yes; nothing was removed.',
      },
    );
  try {
    return await ask.one('Remove all of this? [y/N] ', (answer) => /^y(?:es)?$/i.test(answer));
  } finally {
    ask.close();
  }
}

/** Carries out the plan and reports each step; returns how many failed. */
async function carryOut(deps: UninstallDeps, plan: Plan): Promise<number> {
  const first = await removeAll(deps, [...plan.entries, ...plan.services]);
  if (plan.servers.length > 0) {
    await stopServers(plan.servers);
    const count = plan.servers.length === 1 ? '1 server' : `${plan.servers.length} servers`;
    await print(deps.io.stdout, `ended ${count}\n`);
  }
  await deps.endWorkers();
  // The state folder has the backups of the clients' files, which a failed edit may need.
  const files = first === 0 ? plan.files : plan.files.filter(({ path }) => path !== deps.places.stateDir);
  return first + (await removeAll(deps, files));
}

async function removeAll({ io, display }: UninstallDeps, removals: readonly Removal[]): Promise<number> {
  let failures = 0;
  for (const { what, path, remove } of removals) {
    try {
      remove();
      await print(io.stdout, `removed ${what} (${escapeControls(path)})\n`);
    } catch (error) {
      failures += 1;
      const reason = error instanceof Error ? error.message : String(error);
      await print(
        io.stderr,
        `${display.paint.bad('nacre:')} ${what} (${escapeControls(path)}) was not removed: ${escapeControls(reason)}\n`,
      );
    }
  }
  return failures;
}
