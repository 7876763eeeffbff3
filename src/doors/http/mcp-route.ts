// MCP over Streamable HTTP, for both eras of the protocol:
// 1. since 2026-07-28 every request stands for itself, 2. before, a handshake opens a session with an id; whoever shows
// that id must be the caller who opened it. Commands belong to the caller either way; persistent shells to the session.
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createId } from '../../support/create-id.ts';
import type { HttpCaller } from './callers.ts';
import { createSecret } from './secrets.ts';

/** What the other door brings along. */
export interface McpMeans {
  /** Makes what answers one caller, in one request or in the session of them that has this name. */
  createServer(caller: HttpCaller, connection: string | undefined): Server;
  /** Ends the persistent shells of a session that has ended. */
  closeShells(caller: HttpCaller, connection: string): Promise<void>;
  /** Tells of a caller's resources, until what it returns is called. */
  watch(caller: HttpCaller, news: McpNews): Promise<() => void>;
}

/** Who hears of resources. */
export interface McpNews {
  listChanged(): void;
  updated(uri: string): void;
}

/** Answers what comes to /mcp. */
export interface McpRoute {
  answer(request: Request, caller: HttpCaller): Promise<Response>;
  close(): Promise<void>;
}

// Each request has a server of its own, so that what is told between them comes from here.
interface ModernCaller {
  readonly handler: McpHttpHandler;
  watching: Promise<(() => void) | undefined> | undefined;
}

interface Session {
  readonly owner: string;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
}

const maxBodyBytes = 12 * 1_048_576;
const mostSessions = 1_000;
const idleMs = 3_600_000;

/** Makes the route; when a caller has too many sessions, those are forgotten that it has not used for long. */
export function createMcpRoute(
  { createServer, closeShells, watch }: McpMeans,
  log: (message: string) => void,
  most = mostSessions,
): McpRoute {
  const modern = new Map<string, ModernCaller>();
  const sessions = new Map<string, Session>();
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
    const made: ModernCaller = { handler, watching: undefined };
    modern.set(caller.owner, made);
    return made;
  };
  const answerModern = async (request: Request, caller: HttpCaller) => {
    const found = findModern(caller);
    const { notify } = found.handler;
    const news = { listChanged: notify.resourcesChanged, updated: notify.resourceUpdated };
    // Where there is no engine, the command itself says why.
    found.watching ??= watch(caller, news).catch(() => {
      found.watching = undefined;
      return undefined;
    });
    await found.watching;
    return found.handler.fetch(request);
  };
  const openSession = async (caller: HttpCaller) => {
    forgetOld(sessions, caller.owner, most);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: createSecret,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: (id) => {
        sessions.set(id, { owner: caller.owner, transport, usedAt: performance.now() });
      },
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const connection = createId('mcp');
    transport.onclose = () => {
      if (!isClosing) closeShells(caller, connection).catch(() => {});
    };
    await createServer(caller, connection).connect(transport);
    return transport;
  };
  const answerSession = async (request: Request, caller: HttpCaller) => {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return (await openSession(caller)).handleRequest(request);
    const session = sessions.get(id);
    if (session?.owner !== caller.owner) return sessionNotFound();
    session.usedAt = performance.now();
    return session.transport.handleRequest(request);
  };

  return {
    async answer(request, caller) {
      const isLegacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: maxBodyBytes });
      return isLegacy ? answerSession(request, caller) : answerModern(request, caller);
    },
    async close() {
      // Whoever ends the server ends every shell.
      isClosing = true;
      for (const { handler, watching } of modern.values()) {
        (await watching)?.();
        await handler.close().catch(() => {});
      }
      await Promise.allSettled([...sessions.values()].map(({ transport }) => transport.close()));
    },
  };
}

// Each caller has its own share: nobody loses a session because somebody else opens many.
function forgetOld(sessions: Map<string, Session>, owner: string, most: number): void {
  const own = [...sessions].filter(([, session]) => session.owner === owner);
  if (own.length < most) return;
  const oldest = own.sort(([, one], [, other]) => one.usedAt - other.usedAt);
  for (const [index, [id, { transport, usedAt }]] of oldest.entries()) {
    if (index > 0 && performance.now() - usedAt < idleMs) return;
    sessions.delete(id);
    transport.close().catch(() => {});
  }
}

// What is another's is as unknown as what never was.
function sessionNotFound(): Response {
  const error = { code: -32_001, message: 'Session not found' };
  return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
}
