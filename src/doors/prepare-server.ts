import type { MachineReport } from '../contract/report.ts';
import type { ControlAccess, EngineAccess, Machine, ProcessAccess } from './door.ts';
import { findOnPath, installer } from './find-program.ts';

/**
 * Opens the control socket, warms up the engine and logs in one line what was detected on this machine. If the engine
 * cannot be created, this logs nothing: the first command reports why.
 */
export async function prepareServer(
  deps: Pick<EngineAccess, 'engine'> & Pick<ControlAccess, 'openControl'> & Pick<ProcessAccess, 'machine'>,
  log: (message: string) => void,
): Promise<void> {
  await deps.openControl().catch(({ message, hint = '' }) => {
    log(`warning: other terminals cannot reach this server. ${message} ${hint}`.trim());
  });
  const engine = await deps.engine().catch(() => undefined);
  if (!engine) return;
  await engine.warmUp();
  const report = await engine.report();
  const { supervision, sandbox, network, gaps } = report;
  const more =
    gaps.length === 0 ? '' : `; nacre doctor lists ${gaps.length === 1 ? '1 gap' : `${gaps.length} gaps`}`;
  log(`ready: supervision ${supervision}, sandbox ${sandbox}, network ${network}${more}`);
  const advice = adviseProgram(report, deps.machine);
  if (advice !== undefined) log(advice);
}

/** One line that says how to install bubblewrap, if it is missing and nothing suggests that it would not work. */
function adviseProgram({ supervision }: MachineReport, { platform, env }: Machine): string | undefined {
  const path = env.PATH ?? '';
  if (platform !== 'linux' || supervision === 'namespace' || findOnPath(path, 'bwrap')) return undefined;
  // `unshare` is tried as well. Where it fails, namespaces are forbidden, and bubblewrap would fail too.
  const areForbidden = supervision === 'group' && findOnPath(path, 'unshare') !== undefined;
  return areForbidden ? undefined : `worth installing, for sandboxes: ${installer(path)} bubblewrap`;
}
