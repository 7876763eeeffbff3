import { type SessionOwner, toSessionName } from '../../../contract/session-key.ts';
import type { Engine } from '../../../engine/engine.ts';

/**
 * Ends everything that one MCP session started: persistent shells with their background processes, background commands,
 * its room.
 */
export async function closeConnection(
  engine: Pick<Engine, 'listSessions' | 'closeSession' | 'stopCommandsOf' | 'closeRoom'>,
  holder: SessionOwner,
): Promise<void> {
  const keys = (await engine.listSessions()).map(({ key }) => key);
  const own = keys.filter((key) => toSessionName(key, holder) !== undefined);
  await Promise.all([...own.map((key) => engine.closeSession(key)), engine.stopCommandsOf(holder)]);
  await engine.closeRoom(holder);
}
