// `nacre serve`: one address for apps, agents and pages.
// 1. the token is read or made, callers and applets are found, 2. the server listens and says where,
// 3. create-app.ts answers requests, stream/ what comes over WebSockets, 4. when it is asked to end it stops taking
//    calls, gives those that run some time, ends what is left and says how many there were.
import type { RequestListener, Server } from 'node:http';
import { resolve } from 'node:path';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { pause } from '../../support/pause.ts';
import type { Tool } from '../../tools/define-tool.ts';
import type { Assembly } from '../door.ts';
import { getReady } from '../get-ready.ts';
import { write } from '../say.ts';
import { createAppletAddresses } from './applet-addresses.ts';
import { createApplets, warnOfApplets } from './applets/applets.ts';
import { createCallers } from './callers.ts';
import { closeShells } from './close-shells.ts';
import { type AppParts, createApp } from './create-app.ts';
import { toGreeting } from './greeting.ts';
import { secure as withHeaders } from './headers.ts';
import { createHistory } from './history.ts';
import { createLine } from './line.ts';
import { answerRequests, createHttpServer, listen } from './listen.ts';
import { createMcpCalls, type McpCalls } from './mcp-calls.ts';
import { createMcpRoute, type McpMeans, type McpNews } from './mcp-route.ts';
import { createPageSessions } from './page-sessions.ts';
import { readToken } from './read-token.ts';
import { createSites } from './sites.ts';
import { openStreams } from './stream/open-streams.ts';
import { createRequestCounts } from './tell-metrics.ts';

type Source = Pick<Assembly, 'engine' | 'maxOutputChars'> & {
  readonly owner: string;
  readonly connection?: string | undefined;
  readonly isOneRequest?: boolean;
};

/** What the MCP door brings along. */
interface McpDoor {
  /** Makes what answers MCP for one owner of commands. */
  createServer(tools: readonly Tool[], version: string, source: Source): ReturnType<McpMeans['createServer']>;
  watchResources(source: Source, news: McpNews): Promise<() => void>;
}

/** Serves until the process is asked to end. */
export async function serve(assembly: Assembly, mcpDoor: McpDoor): Promise<number> {
  const { io, http: settings, cwd } = assembly;
  const log = (message: string) => void io.stderr.write(`nacre: ${message}\n`);
  for (const warning of [...assembly.warnings, ...assembly.newerCopy()]) log(`warning: ${warning}`);
  for (const warning of assembly.toolWarnings) log(`warning: for tools, ${warning}`);
  const token = readToken(settings, cwd);
  const { server, secure } = createHttpServer(settings, cwd);
  const mcpCalls = createMcpCalls();
  const made = await assembleParts(assembly, { token: token.text, log, mcpCalls, mcpDoor });
  for (const warning of warnOfApplets(made.applets)) log(`warning: ${warning}`);
  const port = await listen(server, settings);
  // Nothing is waited for between listening and answering: somebody may call at once.
  const { httpHost: host, httpHosts: moreHosts, corsOrigins } = settings;
  const sites = createSites({ secure, host, port, moreHosts, corsOrigins });
  const servers = [server];
  const attach = (one: Server) => {
    answerRequests(one, listener);
    streams.attach(one);
  };
  const appletAddress = createAppletAddresses(assembly, sites, (one) => {
    servers.push(one);
    attach(one);
  });
  const parts: AppParts = { ...made, sites, appletAddress };
  const { answer, answerShortly, authenticate } = createApp(parts);
  const streams = openStreams(parts, authenticate);
  const answerAll = getRequestListener((request, env) => answer(request, env as HttpBindings), {
    overrideGlobalObjects: false,
    errorHandler: () => withHeaders(Response.json({ error: 'The request is not valid.' }, { status: 400 })),
  });
  const listener: RequestListener = (incoming, outgoing) =>
    answerShortly(incoming, outgoing) ?? answerAll(incoming, outgoing);
  attach(server);
  await write(io.stdout, toGreeting(assembly, parts, token), io.interrupted);
  void getReady(assembly, log).catch(() => {});
  await interrupted(io.interrupted);

  for (const one of servers) one.close();
  const open = () => {
    const { running, queued } = parts.line.counts();
    return running + queued + mcpCalls.count() + streams.waitedFor();
  };
  const atFirst = open();
  const left = await drained(open, settings.shutdownMs);
  await streams.close();
  await assembly.close();
  await parts.mcp.close();
  for (const one of servers) one.closeAllConnections();
  log(`ended: ${atFirst - left} of ${atFirst} open calls were finished.`);
  return 0;
}

interface Standing {
  readonly token: string;
  readonly log: (message: string) => void;
  readonly mcpCalls: McpCalls;
  readonly mcpDoor: McpDoor;
}

async function assembleParts(
  assembly: Assembly,
  { token, log, mcpCalls, mcpDoor }: Standing,
): Promise<Omit<AppParts, 'sites' | 'appletAddress'>> {
  const { http: settings, cwd, io, version, engine } = assembly;
  const { appletsDir, terminalShells } = settings;
  const dir = appletsDir === undefined ? undefined : resolve(cwd, appletsDir);
  const history = createHistory();
  const noteRefused = async (address: string, reason: string) =>
    (await engine()).noteUnknown({ door: 'http', client: address }, reason);
  return {
    callers: await createCallers(assembly, token, history),
    history,
    pages: createPageSessions(),
    applets: createApplets(dir, assembly, terminalShells),
    onRefused(address, reason) {
      log(`refused ${address}: ${reason}`);
      void noteRefused(address, reason).catch(() => {});
    },
    engine,
    refresh: assembly.refresh,
    settings,
    line: createLine({ running: settings.httpMaxRunning, queued: settings.httpMaxQueued }),
    requests: createRequestCounts(),
    mcp: createMcpRoute(
      {
        createServer: (caller, connection) =>
          mcpDoor.createServer(mcpCalls.toolsOf(caller), version, {
            ...assembly,
            owner: caller.owner,
            connection,
            isOneRequest: connection === undefined,
          }),
        closeShells: async ({ owner }, connection) => closeShells(await engine(), { owner, connection }),
        watch: ({ owner }, news) => mcpDoor.watchResources({ ...assembly, owner }, news),
      },
      log,
    ),
    version,
    isClosing: () => io.interrupted.aborted,
    log,
  };
}

function interrupted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    signal.addEventListener('abort', () => done(), { once: true });
    if (signal.aborted) done();
  });
}

async function drained(open: () => number, limitMs: number): Promise<number> {
  for (let waitedMs = 0; open() > 0 && waitedMs < limitMs; waitedMs += 20) await pause(20);
  return open();
}
