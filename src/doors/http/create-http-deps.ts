import { resolve } from 'node:path';
import type { Tool } from '../../tools/common/tool.ts';
import type { ConnectedClients } from '../connected-clients.ts';
import type {
  ControlAccess,
  EngineAccess,
  FlagAccess,
  HttpAccess,
  IoAccess,
  PlaceAccess,
  ProcessAccess,
  ReplySettings,
  SettingsAccess,
  ToolAccess,
  VersionAccess,
  WorkerAccess,
} from '../door.ts';
import { countShares, createCallers } from './access/callers.ts';
import { createPageSessions } from './access/page-sessions.ts';
import { createApplets } from './applets/applets.ts';
import type { ConsoleHub } from './console/hub.ts';
import { closeConnection } from './mcp/close-connection.ts';
import type { McpCalls } from './mcp/mcp-calls.ts';
import {
  createMcpEndpoint,
  type McpDeps,
  type McpEndpoint,
  type McpResourceListener,
} from './mcp/mcp-endpoint.ts';
import { FairQueue } from './requests/fair-queue.ts';
import { createRequestCounts } from './requests/request-counts.ts';
import type { HttpDeps } from './routes.ts';

/** The parts of the assembly that `nacre serve` needs. */
export type ServeDeps = FlagAccess<{ readonly json: boolean }> &
  IoAccess &
  VersionAccess &
  SettingsAccess &
  ProcessAccess &
  EngineAccess &
  ReplySettings &
  ToolAccess &
  HttpAccess &
  PlaceAccess &
  ControlAccess &
  Pick<WorkerAccess, 'listKept' | 'keptCommands' | 'endWorkers'>;

type McpSource = Pick<EngineAccess, 'engine'> &
  ReplySettings & {
    readonly owner: string;
    readonly connection?: string | undefined;
    readonly isOneRequest?: boolean;
    onClient?(name: string): void;
  };

/** The tools of one caller, as the MCP door uses them; over HTTP they are the same for every client. */
interface McpTools {
  list(client: string): readonly Tool[];
  instructions(client: string): Promise<string>;
  refresh(): Promise<void>;
}

/** The functions of the MCP door, passed in by the catalog, since doors do not import one another. */
export interface McpDoor {
  createServer(tools: McpTools, version: string, source: McpSource): ReturnType<McpDeps['createServer']>;
  watchResources(source: McpSource, listener: McpResourceListener): Promise<() => void>;
}

/** Creates the dependencies of the routes, except for those that need the port. */
export async function createHttpDeps(
  deps: ServeDeps,
  token: string,
  {
    mcp,
    clients,
    hub,
  }: { readonly mcp: McpEndpoint; readonly clients: ConnectedClients; readonly hub: ConsoleHub },
  log: (message: string) => void,
): Promise<Omit<HttpDeps, 'sites' | 'appletAddress'>> {
  const { http: settings, cwd, io, version, engine } = deps;
  const { appletsDir, terminalShells } = settings;
  const dir = appletsDir === undefined ? undefined : resolve(cwd, appletsDir);
  const recordRefused = async (address: string, reason: string) =>
    (await engine()).noteUnknown({ door: 'http', client: address }, reason);
  return {
    callers: await createCallers(deps, token),
    hub,
    places: deps.places,
    listKept: deps.listKept,
    keptCommands: deps.keptCommands,
    endWorkers: deps.endWorkers,
    settingsInForce: deps.settings,
    home: deps.machine.home,
    pages: createPageSessions(),
    applets: createApplets(dir, deps, terminalShells, countShares(settings)),
    onRefused(address, reason) {
      log(`refused ${address}: ${reason}`);
      void recordRefused(address, reason).catch(() => {});
    },
    engine,
    refresh: deps.refresh,
    settings,
    queue: new FairQueue({ running: settings.httpMaxRunning, queued: settings.httpMaxQueued }),
    requests: createRequestCounts(),
    mcp,
    clients,
    version,
    isClosing: () => io.interrupted.aborted,
    log,
  };
}

/** Creates the `/mcp` endpoint on top of the MCP door; `calls` counts the tool calls. */
export function createMcp(
  deps: ServeDeps,
  door: McpDoor,
  { calls, clients }: { readonly calls: McpCalls; readonly clients: ConnectedClients },
  log: (message: string) => void,
): McpEndpoint {
  const { version, engine, refresh } = deps;
  return createMcpEndpoint(
    {
      createServer: (caller, connection) =>
        door.createServer(calls.toolsOf(caller, refresh), version, {
          ...deps,
          owner: caller.owner,
          connection,
          isOneRequest: connection === undefined,
          onClient: (name) => clients.seen(name, connection),
        }),
      async listed({ offered }) {
        await refresh().catch(() => {});
        return offered?.list();
      },
      async closeConnection({ owner }, connection) {
        clients.left(connection);
        await closeConnection(await engine(), { owner, connection });
      },
      watch: ({ owner }, listener) => door.watchResources({ ...deps, owner }, listener),
    },
    log,
    { resumeMs: deps.http.mcpResumeMs, idleMs: deps.http.mcpIdleMs },
  );
}
