import { type SessionOwner, toSessionName } from '../../../contract/session-key.ts';
import type { Engine } from '../../../engine/engine.ts';

/** Closes the persistent shells of one MCP session, including their background processes. */
export async function closeShells(
  engine: Pick<Engine, 'listSessions' | 'closeSession'>,
  holder: SessionOwner,
): Promise<void> {
  const keys = (await engine.listSessions()).map(({ key }) => key);
  const own = keys.filter((key) => toSessionName(key, holder) !== undefined);
  await Promise.all(own.map((key) => engine.closeSession(key)));
}
