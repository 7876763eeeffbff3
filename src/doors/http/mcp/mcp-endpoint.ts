// MCP over Streamable HTTP, for both protocol generations:
// 1. since 2026-07-28 requests are independent, 2. before that, a handshake opens a session with an id that only the
// caller who opened it can use (mcp-sessions.ts). Commands belong to the caller in both cases; those that a session
// started end with it.
import {
  createMcpHandler,
  isLegacyRequest,
  type McpHttpHandler,
  type Server,
} from '@modelcontextprotocol/server';
import type { HttpCaller } from '../access/callers.ts';
import type { SessionTimes } from './mcp-session.ts';
import { createMcpSessions } from './mcp-sessions.ts';

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

const maxBodyBytes = 12 * 1_048_576;

/**
 * Creates the endpoint; when a caller with `most` sessions opens another one, its least recently used session is
 * closed.
 */
export function createMcpEndpoint(
  { createServer, closeConnection, watch, listed }: McpDeps,
  log: (message: string) => void,
  options: SessionTimes & { readonly most?: number },
): McpEndpoint {
  const modern = new Map<string, ModernCaller>();
  const sessions = createMcpSessions({ createServer, closeConnection }, { ...options, maxBodyBytes });
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

  return {
    async answer(request, caller) {
      const isLegacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: maxBodyBytes });
      return isLegacy ? sessions.answer(request, caller) : answerModern(request, caller);
    },
    async close() {
      for (const { handler, watching } of modern.values()) {
        (await watching)?.();
        await handler.close().catch(() => {});
      }
      await sessions.close();
    },
  };
}
