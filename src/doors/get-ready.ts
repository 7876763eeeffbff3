import type { ControlAccess, EngineAccess } from './door.ts';

/**
 * Gets ready what the first command and other terminals need, and says what was found. Why there is no engine, where there
 * is none, is said by the first command.
 */
export async function getReady(
  deps: Pick<EngineAccess, 'engine'> & ControlAccess,
  say: (message: string) => void,
): Promise<void> {
  const engine = await deps.engine().catch(() => undefined);
  if (!engine) return;
  await engine.warmUp();
  await deps.openControl().catch(({ message, hint = '' }) => {
    say(`warning: other terminals cannot reach this server. ${message} ${hint}`.trim());
  });
  const { supervision, sandbox, network, gaps } = await engine.report();
  const found = `supervision ${supervision}, sandbox ${sandbox}, network ${network}`;
  say(`ready: ${found}${gaps.map((gap) => `; gap: ${gap}`).join('')}`);
}
