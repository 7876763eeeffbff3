import { nameOfSession, type SessionHolder } from '../../contract/session-key.ts';
import type { Engine } from '../../engine/engine.ts';

/** Ends the persistent shells of one holder, with what they have in the background. */
export async function closeShells(
  engine: Pick<Engine, 'listSessions' | 'closeSession'>,
  holder: SessionHolder,
): Promise<void> {
  const keys = (await engine.listSessions()).map(({ key }) => key);
  const own = keys.filter((key) => nameOfSession(key, holder) !== undefined);
  await Promise.all(own.map((key) => engine.closeSession(key)));
}
