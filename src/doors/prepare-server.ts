import type { ControlAccess, EngineAccess } from './door.ts';

/**
 * Warms up the engine, opens the control socket and logs what was detected on this machine. If the engine cannot be
 * created, this logs nothing: the first command reports why.
 */
export async function prepareServer(
  deps: Pick<EngineAccess, 'engine'> & ControlAccess,
  log: (message: string) => void,
): Promise<void> {
  const engine = await deps.engine().catch(() => undefined);
  if (!engine) return;
  await engine.warmUp();
  await deps.openControl().catch(({ message, hint = '' }) => {
    log(`warning: other terminals cannot reach this server. ${message} ${hint}`.trim());
  });
  const { supervision, sandbox, network, gaps } = await engine.report();
  const detected = `supervision ${supervision}, sandbox ${sandbox}, network ${network}`;
  log(`ready: ${detected}${gaps.map((gap) => `; gap: ${gap}`).join('')}`);
}
