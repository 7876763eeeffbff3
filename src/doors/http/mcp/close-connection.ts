import { type SessionOwner, toSessionName } from '../../../contract/session-key.ts';
import type { Engine } from '../../../engine/engine.ts';

/** Closes the persistent shells of one MCP session with their background processes, and removes its room. */
export async function closeConnection(
  engine: Pick<Engine, 'listSessions' | 'closeSession' | 'closeRoom'>,
  holder: SessionOwner,
): Promise<void> {
  const keys = (await engine.listSessions()).map(({ key }) => key);
  const own = keys.filter((key) => toSessionName(key, holder) !== undefined);
  await Promise.all(own.map((key) => engine.closeSession(key)));
  await engine.closeRoom(holder);
}
