import { createId } from '../../../support/ids.ts';
import type { HttpCaller } from '../access/callers.ts';
import type { McpDeps } from './mcp-endpoint.ts';
import { McpSession, type SessionTimes } from './mcp-session.ts';

/** The open sessions of all callers. */
export interface McpSessions {
  /** Answers a request of a session; without a session id it can only open one. */
  answer(request: Request, caller: HttpCaller): Promise<Response>;
  close(): Promise<void>;
}

/**
 * Options of `createMcpSessions`; when a caller with `most` sessions opens another one, its least recently used session
 * is closed.
 */
export interface McpSessionsOptions extends SessionTimes {
  readonly maxBodyBytes: number;
  readonly most?: number;
}

interface OwnedSession {
  readonly owner: string;
  readonly session: McpSession;
}

const maxSessions = 1_000;
// A session that was used more recently than this is closed only if its caller needs room for a new one.
const recentMs = 3_600_000;

/** Creates an empty set of sessions. */
export function createMcpSessions(
  { createServer, closeConnection }: Pick<McpDeps, 'createServer' | 'closeConnection'>,
  { most = maxSessions, ...options }: McpSessionsOptions,
): McpSessions {
  const sessions = new Map<string, OwnedSession>();
  let isClosing = false;
  const open = async (caller: HttpCaller) => {
    dropOldSessions(sessions, caller.owner, most);
    const connection = createId('mcp');
    let id: string | undefined;
    const session = new McpSession({
      ...options,
      onOpen(newId) {
        id = newId;
        sessions.set(newId, { owner: caller.owner, session });
      },
      onEnd() {
        if (id !== undefined) sessions.delete(id);
        if (!isClosing) closeConnection(caller, connection).catch(() => {});
      },
    });
    await createServer(caller, connection).connect(session.transport);
    session.watch();
    return session;
  };
  return {
    async answer(request, caller) {
      const id = request.headers.get('mcp-session-id');
      if (id === null) return answerFirst(await open(caller), request);
      const found = sessions.get(id);
      return found?.owner === caller.owner ? found.session.answer(request) : sessionNotFound();
    },
    async close() {
      // The engine closes every shell when the server ends, so `onEnd` must not.
      isClosing = true;
      await Promise.allSettled([...sessions.values()].map(({ session }) => session.close()));
    },
  };
}

// Only `initialize` opens a session; for anything else the response is an error.
async function answerFirst(session: McpSession, request: Request): Promise<Response> {
  const response = await session.answer(request);
  if (session.transport.sessionId === undefined) await session.close();
  return response;
}

// The limit applies per caller, so that one caller cannot push out the sessions of another.
function dropOldSessions(sessions: ReadonlyMap<string, OwnedSession>, owner: string, most: number): void {
  const own = [...sessions.values()].filter((one) => one.owner === owner).map(({ session }) => session);
  if (own.length < most) return;
  const oldest = own.sort((one, other) => one.usedAt - other.usedAt);
  for (const [index, session] of oldest.entries()) {
    if (index > 0 && performance.now() - session.usedAt < recentMs) return;
    session.close().catch(() => {});
  }
}

// A session of another caller gets the same reply, so that ids cannot be probed.
function sessionNotFound(): Response {
  const error = { code: -32_001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
