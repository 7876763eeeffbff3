import { fileURLToPath } from 'node:url';
import type { Server } from '@modelcontextprotocol/server';

// A client that offers its roots and then does not tell them must not hold up every call.
const answerWithinMs = 2_000;

/**
 * Tells the folders that a client works in. They are asked of it at the first call, and again after it has said that
 * they changed. Since 2026-07-28 a server cannot ask: such a client names folders in the call, or its user in the settings.
 */
export function createClientRoots(server: Server): () => Promise<readonly string[]> {
  let asked: Promise<readonly string[]> | undefined;
  server.setNotificationHandler('notifications/roots/list_changed', () => {
    asked = undefined;
  });
  return async () => {
    if (server.getClientCapabilities()?.roots === undefined) return [];
    asked ??= askFor(server).catch(() => []);
    return asked;
  };
}

async function askFor(server: Server): Promise<readonly string[]> {
  const { roots } = await server.listRoots(undefined, { timeout: answerWithinMs });
  return roots.flatMap(({ uri }) => toPath(uri));
}

function toPath(uri: string): readonly string[] {
  try {
    return [fileURLToPath(uri)];
  } catch {
    // It lies on another machine.
    return [];
  }
}
