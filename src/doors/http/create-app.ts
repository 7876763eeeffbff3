// A request over HTTP:
// 1. its Host says for which site it is, 2. whatever runs something or tells something asks who calls (authenticate.ts),
// 3. calls that run commands wait in line, 4. every answer gets the same headers.
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { NacreError } from '../../contract/failure.ts';
import type { Engine } from '../../engine/create-engine.ts';
import type { HttpSettings } from '../settings.ts';
import { toMcpTool } from '../to-mcp-tool.ts';
import { type Authenticate, type AuthenticationParts, createAuthenticate } from './authenticate.ts';
import type { HttpCaller } from './callers.ts';
import { secure } from './headers.ts';
import type { Line } from './line.ts';
import type { McpRoute } from './mcp-route.ts';
import { postShell } from './post-shell.ts';
import { HttpProblem, toAnswer } from './problem.ts';
import { readJson } from './read-body.ts';
import { callTool } from './tool-call.ts';

/** What the routes need. */
export interface AppParts extends AuthenticationParts {
  readonly engine: () => Promise<Engine>;
  readonly settings: HttpSettings;
  readonly line: Line;
  readonly mcp: McpRoute;
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
  const app = new Hono<Env>();
  app.get('/healthz', () => Response.json({ status: 'ok', version: parts.version }));
  app.get('/readyz', () => ready(parts));
  app.post('/api/shell', ({ req, env }) =>
    serveCall(parts, authenticate, received(req.raw, env), async (caller, { request, signal }) => {
      const body = await readJson(request);
      return inLine(parts, caller, signal, async () =>
        postShell(body, caller, { engine: await parts.engine(), limits: parts.settings, signal }),
      );
    }),
  );
  app.get('/api/tools', ({ req, env }) =>
    serveCall(parts, authenticate, received(req.raw, env), async ({ tools }) =>
      Response.json({ tools: tools.map(toMcpTool) }),
    ),
  );
  app.post('/api/tools/:name', ({ req, env }) =>
    serveCall(parts, authenticate, received(req.raw, env), async (caller, { request, signal }) => {
      const body = await readJson(request);
      return inLine(parts, caller, signal, () => callTool(req.param('name'), body, caller, signal));
    }),
  );
  app.all('/mcp', ({ req, env }) =>
    serveCall(parts, authenticate, received(req.raw, env), (caller, { request }) => {
      if (caller.slug !== undefined) throw new HttpProblem(403, 'Applets have no tools.');
      return parts.mcp.answer(request, caller);
    }),
  );
  app.notFound(({ req }) => {
    throw new HttpProblem(404, `There is nothing at ${req.method} ${new URL(req.url).pathname}.`);
  });
  app.onError((error) => toAnswer(error, parts.log));
  return { authenticate, answer: (request, env) => answerWith(app, parts, request, env) };
}

async function answerWith(
  app: Hono<Env>,
  parts: AppParts,
  request: Request,
  env: HttpBindings,
): Promise<Response> {
  const { headers } = request;
  const cors = attempt(() => parts.sites.check(headers));
  if (request.method === 'OPTIONS' && typeof cors === 'string') return secure(preflight(), cors);
  // Calls say 401 before they say 403.
  const isCall =
    new URL(request.url).pathname.startsWith('/api/') || new URL(request.url).pathname === '/mcp';
  const answer =
    cors instanceof HttpProblem && !isCall ? toAnswer(cors, parts.log) : await app.fetch(request, env);
  return secure(answer, typeof cors === 'string' ? cors : undefined);
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
  step: (caller: HttpCaller, call: Received) => Promise<Response>,
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

function received(request: Request, { incoming, outgoing }: HttpBindings): Received {
  const gone = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) gone.abort();
  });
  return { request, signal: gone.signal, address: incoming.socket.remoteAddress ?? '' };
}
