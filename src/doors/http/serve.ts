// `nacre serve`: one address for apps, agents and pages.
// 1. `readToken` reads or creates the token, `createHttpDeps` the callers and applets, 2. the server listens and prints
// its address, 3. `handle-requests.ts` serves requests and `stream/` WebSockets, 4. on a signal it refuses new calls,
// waits `shutdown_ms` for open ones, kills the rest and logs how many finished.
import type { Server } from 'node:http';
import type { WebSocket } from 'ws';
import { tryAgainLater } from '../../contract/console.ts';
import { settlesWithin } from '../../support/timing.ts';
import { createConnectedClients } from '../connected-clients.ts';
import type { NewPage, PageLink } from '../door.ts';
import { prepareServer } from '../prepare-server.ts';
import { print } from '../print.ts';
import type { HttpCaller } from './access/callers.ts';
import type { PageSessions } from './access/page-sessions.ts';
import { createSites, type Sites } from './access/sites.ts';
import { readToken } from './access/tokens.ts';
import { createAppletAddresses } from './applets/applet-addresses.ts';
import { warnOfApplets } from './applets/applets.ts';
import { describePage } from './console/console-endpoints.ts';
import { createConsoleHub } from './console/hub.ts';
import { serveConsole } from './console/serve-console.ts';
import { createHttpDeps, createMcp, type McpDoor, type ServeDeps } from './create-http-deps.ts';
import { toGreeting } from './greeting.ts';
import { handleRequests } from './handle-requests.ts';
import { createMcpCalls } from './mcp/mcp-calls.ts';
import { drain } from './requests/drain.ts';
import { createHttpServer, listen, serveRequests } from './requests/listen.ts';
import type { HttpDeps } from './routes.ts';
import { openStreams } from './stream/open-streams.ts';

/** Serves until the process gets a signal to end. */
export async function serve(deps: ServeDeps, mcpDoor: McpDoor): Promise<number> {
  const { io, http: settings, cwd } = deps;
  const log = (message: string) => void io.stderr.write(`nacre: ${message}\n`);
  for (const warning of [...deps.warnings, ...deps.newerCopy()]) log(`warning: ${warning}`);
  for (const warning of deps.toolWarnings) log(`warning: for agents, ${warning}`);
  const token = readToken(settings, cwd);
  const { server, secure } = createHttpServer(settings, cwd);
  const mcpCalls = createMcpCalls();
  const clients = createConnectedClients();
  const mcp = createMcp(deps, mcpDoor, { calls: mcpCalls, clients }, log);
  const { audit, controlDir } = deps.places;
  const hub = createConsoleHub({ ...deps, auditDir: audit.dir, controlDir, status: deps.serverStatus });
  const portless = await createHttpDeps(deps, token.text, { mcp, clients, hub }, log);
  for (const warning of warnOfApplets(portless.applets)) log(`warning: ${warning}`);

  const port = await listen(server, settings);
  // No `await` before `openServers`: a request that arrived in between would get no reply.
  const { httpHost: host, httpHosts: moreHosts, corsOrigins } = settings;
  const sites = createSites({ secure, host, port, moreHosts, corsOrigins });
  const { servers, streams } = openServers(deps, { ...portless, sites }, server);
  const link = (page?: NewPage) => createLink(sites, portless.pages, page);
  deps.offerLinks(link);
  deps.describeServer(() => ({ door: 'http', address: sites.address(), clients: clients.names() }));
  const prepared = prepareServer(deps, log).catch(() => {});
  // `--json` is for scripts and is printed at once. For people the link is the last line, below the log of `prepareServer`.
  if (!deps.flags.json) await settlesWithin(Promise.race([prepared, aborted(io.interrupted)]), prepareMs);
  await print(io.stdout, toGreeting(deps, link(), token), io.interrupted);
  await aborted(io.interrupted);

  for (const one of servers) one.close();
  const countOpen = () => {
    const { running, queued } = portless.queue.counts();
    return running + queued + mcpCalls.count() + streams.countOpen();
  };
  const total = countOpen();
  const left = await drain(countOpen, settings.shutdownMs);
  hub.close();
  await streams.close();
  await deps.close();
  await mcp.close();
  for (const one of servers) one.closeAllConnections();
  log(`ended: ${total - left} of ${total} open calls were finished.`);
  return 0;
}

// `servers` grows when an applet opens its own port (`applet_origins: port`).
function openServers(deps: ServeDeps, withSites: Omit<HttpDeps, 'appletAddress'>, first: Server) {
  const servers: Server[] = [];
  const open = (server: Server) => {
    servers.push(server);
    serveRequests(server, listener);
    streams.attach(server);
  };
  const httpDeps = { ...withSites, appletAddress: createAppletAddresses(deps, withSites.sites, open) };
  const { listener, authenticate } = handleRequests(httpDeps);
  const { controlDir, recordingDir } = deps.places;
  const describe = (caller: HttpCaller) => describePage(httpDeps, caller);
  const pages = new Set<WebSocket>();
  const streams = openStreams(httpDeps, authenticate, {
    serveConsole: (socket, caller) => {
      if (caller.owner !== httpDeps.callers.own.owner)
        return socket.close(1008, "Only the server's own pages.");
      if (pages.size >= maxPages)
        return socket.close(tryAgainLater, `${maxPages} pages are open; close one of them.`);
      pages.add(socket);
      socket.once('close', () => pages.delete(socket));
      const { id = '' } = caller.page ?? {};
      const release = httpDeps.pages.hold(id, () => socket.close(4_001, 'The page was signed out.'));
      socket.once('close', release);
      serveConsole({ ...httpDeps, controlDir, recordingDir, describe }, socket, caller);
    },
  });
  open(first);
  return { servers, streams };
}

const maxPages = 64;

const prepareMs = 5_000;

const operator: NewPage = { role: 'operator', name: '' };

function createLink(sites: Sites, pages: PageSessions, page = operator): PageLink {
  const address = sites.address();
  return { address, link: `${address}/open?ticket=${pages.issueTicket({ origin: address, ...page })}` };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    signal.addEventListener('abort', () => done(), { once: true });
    if (signal.aborted) done();
  });
}
