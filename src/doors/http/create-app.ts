// A request over HTTP:
// 1. its Host says for which site it is, 2. whatever runs something or tells something asks who calls (authenticate.ts),
// 3. calls that run commands wait in line, 4. every answer gets the same headers.
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { NacreError } from '../../contract/failure.ts';
import type { Engine } from '../../engine/create-engine.ts';
import type { HttpSettings } from '../settings.ts';
import { toMcpTool } from '../to-mcp-tool.ts';
import { type Authenticate, type AuthenticationParts, createAuthenticate } from './authenticate.ts';
import type { HttpCaller } from './callers.ts';
import { secure } from './headers.ts';
import type { History } from './history.ts';
import type { Line } from './line.ts';
import type { McpRoute } from './mcp-route.ts';
import { toOpenApi } from './open-api.ts';
import { leadToApplet, makeLink, openLink, serveApplet, servePage, tellState } from './page-routes.ts';
import { postShell } from './post-shell.ts';
import { HttpProblem, toAnswer } from './problem.ts';
import { readJson } from './read-body.ts';
import { type RequestCounts, tellMetrics } from './tell-metrics.ts';
import { callTool } from './tool-call.ts';

/** What the routes need. */
export interface AppParts extends AuthenticationParts {
  readonly engine: () => Promise<Engine>;
  readonly settings: HttpSettings;
  readonly line: Line;
  readonly mcp: McpRoute;
  readonly history: History;
  /** Where an applet is opened. */
  readonly appletAddress: (slug: string) => Promise<string>;
  readonly requests: RequestCounts;
  readonly version: string;
  /** True from the moment on in which the server is asked to end. */
  readonly isClosing: () => boolean;
  readonly log: (message: string) => void;
}

/** What a handler knows of its request. */
export interface Received {
  readonly request: Request;
  /** Fires when the caller goes away before its answer. */
  readonly signal: AbortSignal;
  readonly address: string;
}

type Env = { Bindings: HttpBindings };

/** The function that answers requests. */
export type Answer = (request: Request, env: HttpBindings) => Promise<Response>;

/** Makes the function that answers every request. */
export function createApp(parts: AppParts): { readonly answer: Answer; readonly authenticate: Authenticate } {
  const authenticate = createAuthenticate(parts);
  const call = (step: Step) => (context: Context<Env>) =>
    serveCall(parts, authenticate, received(context), (caller, received) => step(caller, received, context));
  const apps = { main: createMain(parts, call), applet: createAppletSite(parts, call) };
  const answer: Answer = async (request, env) => {
    const { headers, method } = request;
    const cors = attempt(() => parts.sites.check(headers));
    if (method === 'OPTIONS' && typeof cors === 'string') return secure(preflight(), cors);
    // Calls say 401 before they say 403.
    if (cors instanceof HttpProblem && !isCall(request)) return secure(toAnswer(cors, parts.log));
    const app = apps[parts.sites.find(headers.get('host'))?.kind ?? 'main'];
    const reply = await app.fetch(request, env);
    parts.requests.add(reply.status);
    return secure(reply, typeof cors === 'string' ? cors : undefined);
  };
  return { authenticate, answer };
}

type Step = (caller: HttpCaller, received: Received, context: Context<Env>) => Promise<Response> | Response;
type Call = (step: Step) => (context: Context<Env>) => Promise<Response>;

function createMain(parts: AppParts, call: Call): Hono<Env> {
  const app = createSite(parts, call);
  app.get('/healthz', () => Response.json({ status: 'ok', version: parts.version }));
  app.get('/readyz', () => ready(parts));
  for (const path of ['/', '/applets', '/applets/']) app.get(path, () => servePage('start.html'));
  app.get('/assets/:name', ({ req }) => servePage(req.param('name')));
  const lead = call((caller, _, { req }) => leadToApplet(parts, caller, req.param('slug') ?? ''));
  app.get('/applets/:slug/', async (context) => {
    const answer = await lead(context).catch((error: unknown) => toAnswer(error, parts.log));
    // Whoever is not signed in finds out how on the start page.
    return answer.status === 401 ? context.redirect('/') : answer;
  });
  app.get('/applets/:slug', ({ req, redirect }) => redirect(`/applets/${req.param('slug')}/`));
  app.get(
    '/metrics',
    call(async () => tellMetrics(parts)),
  );
  app.get('/openapi.json', () => Response.json(toOpenApi(parts)));
  app.get('/docs', () => servePage('docs.html'));
  app.get(
    '/api/state',
    call((caller) => tellState(parts, caller)),
  );
  app.get(
    '/metrics',
    call(async () => tellFigures(await (await parts.engine()).metrics())),
  );
  app.post(
    '/api/link',
    call((caller) => makeLink(parts, caller)),
  );
  app.get(
    '/api/tools',
    call(({ tools }) => Response.json({ tools: tools.map(toMcpTool) })),
  );
  app.post(
    '/api/tools/:name',
    call(async (caller, { request, signal }, { req }) => {
      const body = await readJson(request);
      return inLine(parts, caller, signal, () => callTool(req.param('name') ?? '', body, caller, signal));
    }),
  );
  app.all(
    '/mcp',
    call((caller, { request }) => parts.mcp.answer(request, caller)),
  );
  return app;
}

function tellFigures(text: string): Response {
  return new Response(text, { headers: { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' } });
}

function createAppletSite(parts: AppParts, call: Call): Hono<Env> {
  const app = createSite(parts, call);
  app.get('*', ({ req }) => {
    const site = parts.sites.find(req.header('host') ?? null);
    return serveApplet(parts, site?.kind === 'applet' ? site.slug : '', new URL(req.url).pathname);
  });
  return app;
}

// What every site has.
function createSite(parts: AppParts, call: Call): Hono<Env> {
  const app = new Hono<Env>();
  app.get('/open', ({ req }) => openLink(parts, req.raw));
  app.post(
    '/api/shell',
    call(async (caller, { request, signal }) => {
      const body = await readJson(request);
      return inLine(parts, caller, signal, async () =>
        postShell(body, caller, { ...parts, engine: await parts.engine(), limits: parts.settings, signal }),
      );
    }),
  );
  app.notFound(({ req }) => {
    throw new HttpProblem(404, `There is nothing at ${req.method} ${new URL(req.url).pathname}.`);
  });
  app.onError((error) => toAnswer(error, parts.log));
  return app;
}

function isCall({ url }: Request): boolean {
  const { pathname } = new URL(url);
  return pathname.startsWith('/api/') || pathname === '/mcp' || pathname === '/metrics';
}

function attempt(check: () => string | undefined): string | undefined | HttpProblem {
  try {
    return check();
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    throw error;
  }
}

function preflight(): Response {
  const allowed =
    'Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name';
  return new Response(null, {
    status: 204,
    headers: {
      'Access-Control-Allow-Methods': 'GET, POST, DELETE',
      'Access-Control-Allow-Headers': allowed,
      'Access-Control-Max-Age': '600',
    },
  });
}

function ready({ isClosing }: AppParts): Response {
  return isClosing()
    ? Response.json({ status: 'closing' }, { status: 503 })
    : Response.json({ status: 'ready' });
}

/** Tells who calls and then does it. */
async function serveCall(
  parts: AppParts,
  authenticate: Authenticate,
  call: Received,
  step: (caller: HttpCaller, call: Received) => Promise<Response> | Response,
): Promise<Response> {
  const caller = authenticate(call.request.headers, call.address);
  if (parts.isClosing())
    throw new NacreError('shutting_down', 'The server is ending; nothing new is started.');
  return step(caller, call);
}

async function inLine(
  { line }: AppParts,
  caller: HttpCaller,
  signal: AbortSignal,
  step: () => Promise<Response>,
): Promise<Response> {
  const leave = await line.enter(caller.owner, signal);
  try {
    return await step();
  } finally {
    leave();
  }
}

function received({ req, env }: Context<Env>): Received {
  const { incoming, outgoing } = env;
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return { request: req.raw, signal: gone.signal, address: incoming.socket.remoteAddress ?? '' };
}
