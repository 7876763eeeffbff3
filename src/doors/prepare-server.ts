import type { MachineReport } from '../contract/report.ts';
import type { ControlAccess, EngineAccess, HttpAccess } from './door.ts';

/**
 * Opens the control socket, warms up the engine and logs in one line what was detected on this machine. If the engine
 * cannot be created, this logs nothing: the first command reports why.
 */
export async function prepareServer(
  deps: Pick<EngineAccess, 'engine'> &
    Pick<ControlAccess, 'openControl'> &
    Partial<Pick<HttpAccess, 'noteOnApps'>>,
  log: (message: string) => void,
): Promise<void> {
  await deps.openControl().catch(({ message, hint = '' }) => {
    log(`warning: other terminals cannot reach this server. ${message} ${hint}`.trim());
  });
  const engine = await deps.engine().catch(() => undefined);
  if (!engine) return;
  await engine.warmUp();
  const report = await engine.report();
  const { supervision, sandbox, files, network, execNote, gaps } = report;
  const by = files === 'landlock' ? ' (landlock)' : '';
  const more =
    gaps.length === 0 ? '' : `; nacre doctor lists ${gaps.length === 1 ? '1 gap' : `${gaps.length} gaps`}`;
  const forApps = await deps.noteOnApps?.();
  const kernel = [
    ...(execNote === undefined ? [] : [`; exec auto: ${execNote}`]),
    ...(forApps === undefined ? [] : [`; exec auto for POST /api/shell: ${forApps}`]),
  ].join('');
  log(`ready: supervision ${supervision}, sandbox ${sandbox}${by}, network ${network}${kernel}${more}`);
  const advice = adviseProgram(report);
  if (advice !== undefined) log(advice);
}

/** One line about how to install bubblewrap, if it is missing and would work. */
function adviseProgram({ namespaceFault }: MachineReport): string | undefined {
  if (namespaceFault?.kind !== 'missing') return undefined;
  return `worth installing, for sandboxes: ${namespaceFault.fix}`;
}
