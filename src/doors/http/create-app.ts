// A request over HTTP:
// 1. its Host says for which site it is, 2. whatever runs something or tells something asks who calls (authenticate.ts),
// 3. calls that run commands wait in line, 4. every answer gets the same headers.
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
import type { RequestHeaders } from './raw-headers.ts';
import { type Received, toReceived } from './received.ts';
import { createAppletSite, createMain } from './routes.ts';
import { createShortWay, type ShortWay } from './short-way.ts';
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
export function createApp(parts: AppParts): {
  readonly answer: Answer;
  readonly answerShortly: ShortWay;
  readonly authenticate: Authenticate;
} {
  const authenticate = createAuthenticate(parts);
  const admit: Admit = (headers, { address }) => {
    const caller = authenticate(headers, address);
    if (parts.isClosing()) throw shuttingDown();
    return caller;
  };
  const call: Call = (step) => async (context) => {
    const { incoming, outgoing, corsOrigin } = context.env;
    const received = toReceived(parts.requests, incoming, outgoing, corsOrigin);
    return step(admit(context.req.raw.headers, received), received, context);
  };
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
    if (replied === RESPONSE_ALREADY_SENT) return replied;
    parts.requests.add(replied.status);
    return secure(replied, corsOrigin);
  };
  return { authenticate, answer, answerShortly: createShortWay(parts, admit) };
}

/** Tells who calls, while calls are taken. */
export type Admit = (headers: RequestHeaders, received: Received) => HttpCaller;

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
