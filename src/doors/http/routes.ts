// The routes of the server itself and of an applet's origin. `open` routes need no token; `call` routes serve
// authenticated callers only, and `handle-requests.ts` passes the caller to them.
import { fileURLToPath } from 'node:url';
import type { ConnectedClients } from '../connected-clients.ts';
import type { HttpSettings } from '../settings.ts';
import type { AuthenticateDeps } from './access/authenticate.ts';
import type { HttpCaller } from './access/callers.ts';
import type { Applets } from './applets/applets.ts';
import * as act from './console/acts.ts';
import type { ConsoleDeps } from './console/console-endpoints.ts';
import * as see from './console/console-endpoints.ts';
import { serveConsoleFile, serveConsolePage } from './console/console-files.ts';
import { actOnChanges, serveChanges, serveChangesList } from './endpoints/changes-endpoint.ts';
import { type MetricsDeps, showMetrics } from './endpoints/metrics-endpoint.ts';
import * as page from './endpoints/page-endpoints.ts';
import { runShell, type ShellDeps } from './endpoints/shell-endpoint.ts';
import { serveFile } from './endpoints/static-files.ts';
import { listTools, runTool } from './endpoints/tool-endpoint.ts';
import type { McpEndpoint } from './mcp/mcp-endpoint.ts';
import { toWebRequest } from './mcp/web-messages.ts';
import { toOpenApi } from './open-api.ts';
import { pagePolicy } from './requests/headers.ts';
import { HttpProblem } from './requests/problem.ts';
import { type Exchange, type Reply, type RequestTarget, toJsonReply } from './requests/raw-http.ts';
import type { FoundRoute, Route } from './requests/router.ts';

/** Dependencies of the routes. */
export interface HttpDeps extends AuthenticateDeps, ShellDeps, MetricsDeps, page.PageDeps, ConsoleDeps {
  readonly applets: Applets;
  readonly settings: HttpSettings;
  readonly mcp: McpEndpoint;
  readonly clients: ConnectedClients;
  /** True once the server has received a signal to shut down. */
  readonly isClosing: () => boolean;
  readonly log: (message: string) => void;
}

/** The target of a request, with the path segments that its route names. */
export type RouteMatch = RequestTarget & Pick<FoundRoute<unknown>, 'params'>;

// Only MCP returns a web Response.
type HandlerResult = Reply | Response | Promise<Reply | Response>;

type OpenHandle = (exchange: Exchange, match: RouteMatch) => HandlerResult;
type CallHandle = (caller: HttpCaller, exchange: Exchange, match: RouteMatch) => HandlerResult;

/** Serves one route. */
export type Handler =
  | { readonly access: 'open'; readonly handle: OpenHandle }
  /** `forViewers`: a read-only page may call it. */
  | { readonly access: 'caller'; readonly handle: CallHandle; readonly forViewers: boolean };

const open = (method: string, path: string, handle: OpenHandle): Route<Handler> => ({
  method,
  path,
  handler: { access: 'open', handle },
});
const call = (method: string, path: string, handle: CallHandle): Route<Handler> => ({
  method,
  path,
  handler: { access: 'caller', handle, forViewers: false },
});
const look = (path: string, handle: CallHandle): Route<Handler> => ({
  method: 'GET',
  path,
  handler: { access: 'caller', handle, forViewers: true },
});

/** The routes of the server itself; `admit` authenticates a caller. */
export function mainRoutes(
  deps: HttpDeps,
  admit: (exchange: Exchange) => HttpCaller,
): readonly Route<Handler>[] {
  return [
    ...sharedRoutes(deps),
    open('GET', '/healthz', () => toJsonReply(200, { status: 'ok', version: deps.version })),
    open('GET', '/readyz', () =>
      deps.isClosing() ? toJsonReply(503, { status: 'closing' }) : toJsonReply(200, { status: 'ready' }),
    ),
    open('GET', '/openapi.json', () => toJsonReply(200, toOpenApi(deps))),
    open('GET', '/docs', (exchange) => servePage(exchange, 'docs.html')),
    open('GET', '/assets/:name', (exchange, { params }) => servePage(exchange, params.name ?? '')),
    ...consoleRoutes(deps),
    ...['/applets', '/applets/'].map((path) => open('GET', path, () => page.redirect('/server'))),
    open('GET', '/applets/:slug', (_, { params }) =>
      page.redirect(`/applets/${encodeURIComponent(params.slug ?? '')}/`),
    ),
    open('GET', '/applets/:slug/', (exchange, { params }) => {
      const caller = signedIn(() => admit(exchange));
      // The console explains how to sign in.
      return caller === undefined
        ? page.redirect('/')
        : page.redirectToApplet(deps, caller, exchange, params.slug ?? '');
    }),
    call('POST', '/api/link', (caller, exchange) => page.makeLink(deps, caller, exchange)),
    call('GET', '/api/tools', listTools),
    call('POST', '/api/tools/:name', (caller, exchange, { params }) =>
      runTool(deps, params.name ?? '', caller, exchange),
    ),
    call('GET', '/api/changes', (caller) => serveChangesList(deps, caller)),
    call('GET', '/api/changes/:id', (caller, _, { params }) => serveChanges(deps, caller, params.id ?? '')),
    ...(['apply', 'discard', 'undo'] as const).map((action) =>
      call('POST', `/api/changes/:id/${action}`, (caller, exchange, { params }) =>
        actOnChanges(deps, caller, { id: params.id ?? '', action }, exchange),
      ),
    ),
    call('GET', '/metrics', (caller) => showMetrics(deps, caller)),
    ...['GET', 'POST', 'DELETE'].map((method) =>
      call(method, '/mcp', (caller, exchange) =>
        deps.mcp.answer(toWebRequest(exchange, `${deps.sites.address()}/mcp`), caller),
      ),
    ),
  ];
}

const pagePaths = [
  ...['/', '/commands', '/commands/:id', '/agents', '/agents/:key'],
  ...['/approvals', '/audit', '/server'],
];

/** The console: its pages, their data, and the actions of operators. */
function consoleRoutes(deps: HttpDeps): readonly Route<Handler>[] {
  return [
    ...pagePaths.map((path) => open('GET', path, ({ headers }) => serveConsolePage(headers))),
    open('GET', '/console/:name', ({ headers }, { params }) => serveConsoleFile(params.name ?? '', headers)),
    open('GET', '/api/console', () => {
      throw new HttpProblem(426, 'This address is a WebSocket; open it with new WebSocket(address).', {
        Upgrade: 'websocket',
        Connection: 'Upgrade',
      });
    }),
    look('/api/now', (caller) => see.showNow(deps, caller)),
    look('/api/commands', (caller, _, { search }) => see.sendCommands(deps, caller, search)),
    look('/api/commands/:id', (caller, _, { params }) => see.sendCommand(deps, caller, params.id ?? '')),
    look('/api/commands/:id/output', (caller, _, { params, search }) =>
      see.sendOutput(deps, caller, params.id ?? '', search),
    ),
    look('/api/agents', (caller, _, { search }) => see.showAgents(deps, caller, search)),
    look('/api/agents/:key', (caller, _, { params }) => see.showAgent(deps, caller, params.key ?? '')),
    look('/api/approvals', (caller) => see.showApprovals(deps, caller)),
    look('/api/series', (caller, _, { search }) => see.showSeries(deps, caller, search)),
    look('/api/server', (caller) => see.showServer(deps, caller)),
    look('/api/pages', (caller) => see.showPages(deps, caller)),
    call('DELETE', '/api/pages/:id', (caller, _, { params }) => {
      see.requireOwner(deps, caller);
      return page.endPage(deps, caller, params.id ?? '');
    }),
    look('/api/audit', (caller, _, { search }) => see.showAudit(deps, caller, search)),
    look('/api/audit/verify', (caller) => see.showVerified(deps, caller)),
    look('/api/audit/export', (caller, _, { search }) => see.exportAudit(deps, caller, search)),
    call('POST', '/api/commands/:id/stop', (caller, _, { params }) =>
      act.stopFromPage(deps, caller, params.id ?? ''),
    ),
    call('POST', '/api/commands/:id/type', (caller, exchange, { params }) =>
      act.typeInto(deps, caller, params.id ?? '', exchange),
    ),
    call('POST', '/api/approvals/:id', (caller, exchange, { params }) =>
      act.answerQuestion(deps, caller, params.id ?? '', exchange),
    ),
    call('POST', '/api/pause', (caller, exchange) => act.pauseAll(deps, caller, exchange)),
    {
      method: 'DELETE',
      path: '/api/session',
      handler: {
        access: 'caller',
        forViewers: true,
        handle: (caller, exchange) => page.signOut(deps, caller, exchange),
      },
    },
  ];
}

/** The routes of an applet's origin: its files, and the commands that it may run. */
export function appletRoutes(deps: HttpDeps): readonly Route<Handler>[] {
  return [
    ...sharedRoutes(deps),
    open('GET', '*', (exchange, { path }) => {
      const site = deps.sites.find(exchange.headers.get('host'));
      return page.serveApplet(deps, site?.kind === 'applet' ? site.slug : '', exchange, path);
    }),
  ];
}

function sharedRoutes(deps: HttpDeps): readonly Route<Handler>[] {
  return [
    call('POST', '/api/shell', (caller, exchange) => runShell(deps, caller, exchange)),
    open('GET', '/api/shell/stream', () => {
      throw new HttpProblem(426, 'This address is a WebSocket; open it with new WebSocket(address).', {
        Upgrade: 'websocket',
        Connection: 'Upgrade',
      });
    }),
    open('GET', '/start', (exchange) => page.redirectToStart(deps, exchange)),
    open('GET', '/open', (exchange, { search }) => page.openLink(deps, exchange, search)),
    open('POST', '/open', (exchange) => page.redeemLink(deps, exchange)),
  ];
}

// Resolved here, since the build puts all code into one folder with `pages` in it.
const pagesFolder = fileURLToPath(new URL('./pages', import.meta.url));

function servePage({ headers }: Exchange, name: string): Promise<Reply> {
  return serveFile(pagesFolder, `/${name}`, { policy: pagePolicy, headers });
}

function signedIn(admit: () => HttpCaller): HttpCaller | undefined {
  try {
    return admit();
  } catch (error) {
    if (error instanceof HttpProblem && error.status === 401) return undefined;
    throw error;
  }
}
