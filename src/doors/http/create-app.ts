// A request over HTTP:
// 1. its Host says for which site it is, 2. whatever runs something or tells something asks who calls (authenticate.ts),
// 3. calls that run commands wait in line, 4. every answer gets the same headers.
import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { shuttingDown } from '../../contract/failure.ts';
import type { Engine } from '../../engine/engine.ts';
import type { HttpSettings } from '../settings.ts';
import { type Authenticate, type AuthenticationParts, createAuthenticate } from './authenticate.ts';
import type { HttpCaller } from './callers.ts';
import { secure } from './headers.ts';
import type { History } from './history.ts';
import type { Line } from './line.ts';
import type { McpRoute } from './mcp-route.ts';
import { preflight } from './preflight.ts';
import { HttpProblem, toAnswer } from './problem.ts';
import { createAppletSite, createMain } from './routes.ts';
import { sendJson } from './send-json.ts';
import type { RequestCounts } from './tell-metrics.ts';

/** What the routes need. */
export interface AppParts extends AuthenticationParts {
  readonly engine: () => Promise<Engine>;
  /** Takes in what has changed in the settings, before a command is judged by them. */
  readonly refresh: () => Promise<void>;
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
  readonly incoming: IncomingMessage;
  /** Fires when the caller goes away before its answer. */
  readonly signal: AbortSignal;
  readonly address: string;
  /** Answers at once with JSON; returns what the handler then returns. */
  readonly send: (status: number, body: unknown) => Response;
}

/** What a handler gets beside its request. */
export type Env = {
  Bindings: HttpBindings & {
    /** The origin of another page that may read the answer. */
    readonly corsOrigin?: string | undefined;
  };
};

/** The function that answers requests. */
export type Answer = (request: Request, env: HttpBindings) => Promise<Response>;

/** Makes the function that answers every request. */
export function createApp(parts: AppParts): { readonly answer: Answer; readonly authenticate: Authenticate } {
  const authenticate = createAuthenticate(parts);
  const call = (step: Step) => (context: Context<Env>) =>
    serveCall(parts, authenticate, received(context), (caller, received) => step(caller, received, context));
  const apps = { main: createMain(parts, call), applet: createAppletSite(parts, call) };
  const reply = (request: Request, env: Env['Bindings'], problem: HttpProblem | undefined) => {
    if (request.method === 'OPTIONS' && env.corsOrigin !== undefined) return preflight();
    // Calls say 401 before they say 403.
    if (problem && !isCall(request)) return toAnswer(problem, parts.log);
    return apps[parts.sites.find(request.headers.get('host'))?.kind ?? 'main'].fetch(request, env);
  };
  const answer: Answer = async (request, { incoming, outgoing }) => {
    const { corsOrigin, problem } = attempt(() => parts.sites.check(request.headers));
    const replied = await reply(request, { incoming, outgoing, corsOrigin }, problem);
    const isSent = replied === RESPONSE_ALREADY_SENT;
    parts.requests.add(isSent ? outgoing.statusCode : replied.status);
    return isSent ? replied : secure(replied, corsOrigin);
  };
  return { authenticate, answer };
}

/** What is done for a caller. */
export type Step = (
  caller: HttpCaller,
  received: Received,
  context: Context<Env>,
) => Promise<Response> | Response;

/** Makes a handler that first asks who calls. */
export type Call = (step: Step) => (context: Context<Env>) => Promise<Response>;

function isCall({ url }: Request): boolean {
  const { pathname } = new URL(url);
  return pathname.startsWith('/api/') || pathname === '/mcp' || pathname === '/metrics';
}

function attempt(check: () => string | undefined): {
  corsOrigin?: string | undefined;
  problem?: HttpProblem;
} {
  try {
    return { corsOrigin: check() };
  } catch (error) {
    if (error instanceof HttpProblem) return { problem: error };
    throw error;
  }
}

/** Tells who calls and then does it. */
async function serveCall(
  parts: AppParts,
  authenticate: Authenticate,
  call: Received,
  step: (caller: HttpCaller, call: Received) => Promise<Response> | Response,
): Promise<Response> {
  const caller = authenticate(call.request.headers, call.address);
  if (parts.isClosing()) throw shuttingDown();
  return step(caller, call);
}

function received({ req, env }: Context<Env>): Received {
  const { incoming, outgoing, corsOrigin } = env;
  const { socket } = incoming;
  const gone = new AbortController();
  // The answer to a request behind another one has no socket yet, so that it would not learn that the caller has gone.
  const leave = () => gone.abort();
  socket.setMaxListeners(0).once('close', leave);
  outgoing.once('close', () => {
    socket.off('close', leave);
    if (!outgoing.writableFinished) leave();
  });
  const send = (status: number, body: unknown) => sendJson(outgoing, { status, body, corsOrigin });
  return { request: req.raw, incoming, signal: gone.signal, address: socket.remoteAddress ?? '', send };
}
