// MCP over Streamable HTTP, for both protocol generations:
// 1. since 2026-07-28 requests are independent, 2. before that, a handshake opens a session with an id that only the
// caller who opened it can use (mcp-session.ts). Commands belong to the caller either way; what a session started ends with it.
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
} from '@modelcontextprotocol/server';
import { createId } from '../../../support/ids.ts';
import type { HttpCaller } from '../access/callers.ts';
import { McpSession, type SessionTimes } from './mcp-session.ts';

/** Functions of the MCP door and the engine that `createMcpEndpoint` needs. */
export interface McpDeps {
  /** Creates the MCP server for one session, or for one request if `connection` is undefined. */
  createServer(caller: HttpCaller, connection: string | undefined): Server;
  /** The caller's tools under the current settings; another object after each change of the settings. */
  listed(caller: HttpCaller): Promise<unknown>;
  /** Closes the persistent shells of an ended session, and removes its room. */
  closeConnection(caller: HttpCaller, connection: string): Promise<void>;
  /** Reports changes of a caller's resources until the returned function is called. */
  watch(caller: HttpCaller, listener: McpResourceListener): Promise<() => void>;
}

/** Callbacks for changes of a caller's resources. */
export interface McpResourceListener {
  listChanged(): void;
  updated(uri: string): void;
}

/** Serves `/mcp`. */
export interface McpEndpoint {
  answer(request: Request, caller: HttpCaller): Promise<Response>;
  close(): Promise<void>;
}

// Each request has its own MCP server, so notifications between requests are sent through `handler`.
interface ModernCaller {
  readonly handler: McpHttpHandler;
  watching: Promise<(() => void) | undefined> | undefined;
  /** The result of `listed` at the last request. */
  listed: unknown;
}

interface OwnedSession {
  readonly owner: string;
  readonly session: McpSession;
}

const maxBodyBytes = 12 * 1_048_576;
const maxSessions = 1_000;
// A session that was used more recently than this is closed only if its caller needs room for a new one.
const recentMs = 3_600_000;

/** Creates the endpoint; a caller with `most` sessions loses those that it has not used for longest. */
export function createMcpEndpoint(
  { createServer, closeConnection, watch, listed }: McpDeps,
  log: (message: string) => void,
  { most = maxSessions, ...times }: SessionTimes & { readonly most?: number },
): McpEndpoint {
  const modern = new Map<string, ModernCaller>();
  const sessions = new Map<string, OwnedSession>();
  let isClosing = false;
  const onerror = (error: Error) => log(`protocol error: ${error.message}`);

  const findModern = (caller: HttpCaller) => {
    const known = modern.get(caller.owner);
    if (known) return known;
    const handler = createMcpHandler(() => createServer(caller, undefined), {
      legacy: 'reject',
      onerror,
      maxRequestBodySize: maxBodyBytes,
    });
    const made: ModernCaller = { handler, watching: undefined, listed: undefined };
    modern.set(caller.owner, made);
    return made;
  };
  const answerModern = async (request: Request, caller: HttpCaller) => {
    const found = findModern(caller);
    const { notify } = found.handler;
    const listener = { listChanged: notify.resourcesChanged, updated: notify.resourceUpdated };
    // `watch` fails if there is no engine; the tool call then reports the reason.
    found.watching ??= watch(caller, listener).catch(() => {
      found.watching = undefined;
      return undefined;
    });
    await found.watching;
    const before = found.listed;
    found.listed = await listed(caller);
    if (before !== undefined && before !== found.listed) notify.toolsChanged();
    return found.handler.fetch(request);
  };
  const openSession = async (caller: HttpCaller) => {
    dropOldSessions(sessions, caller.owner, most);
    const connection = createId('mcp');
    let id: string | undefined;
    const session = new McpSession({
      ...times,
      maxBodyBytes,
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
  const answerSession = async (request: Request, caller: HttpCaller) => {
    const id = request.headers.get('mcp-session-id');
    if (id === null) {
      const session = await openSession(caller);
      const response = await session.answer(request);
      // Only `initialize` opens a session; for anything else the response is an error.
      if (session.transport.sessionId === undefined) await session.close();
      return response;
    }
    const found = sessions.get(id);
    return found?.owner === caller.owner ? found.session.answer(request) : sessionNotFound();
  };

  return {
    async answer(request, caller) {
      const isLegacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: maxBodyBytes });
      return isLegacy ? answerSession(request, caller) : answerModern(request, caller);
    },
    async close() {
      // The engine closes every shell when the server ends, so `onclose` must not.
      isClosing = true;
      for (const { handler, watching } of modern.values()) {
        (await watching)?.();
        await handler.close().catch(() => {});
      }
      await Promise.allSettled([...sessions.values()].map(({ session }) => session.close()));
    },
  };
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

// Also the reply for a session of another caller, so that ids cannot be probed.
function sessionNotFound(): Response {
  const error = { code: -32_001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
