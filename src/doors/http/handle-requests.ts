// One HTTP request:
// 1. its Host selects a site and `toTarget` its path, 2. `routes.ts` has the handler; calls are authenticated first,
// 3. calls that run commands wait in the fair queue, 4. every reply gets the same security headers and is counted.
import type { RequestListener } from 'node:http';
import { shuttingDown } from '../../contract/failure.ts';
import { type Authenticate, createAuthenticate } from './access/authenticate.ts';
import { refuseViewer } from './access/callers.ts';
import type { Sites } from './access/sites.ts';
import { sendWebResponse } from './mcp/web-messages.ts';
import { preflightHeaders } from './requests/headers.ts';
import { HttpProblem, toFailure } from './requests/problem.ts';
import type { RequestHeaders } from './requests/raw-headers.ts';
import {
  dropUnreadBody,
  type Exchange,
  openExchange,
  type Reply,
  send,
  toFailureReply,
  toTarget,
} from './requests/raw-http.ts';
import { createRouter } from './requests/router.ts';
import { appletRoutes, type HttpDeps, mainRoutes } from './routes.ts';

/** Creates the listener for every request, and the check that WebSocket upgrades share with it. */
export function handleRequests(deps: HttpDeps): {
  readonly listener: RequestListener;
  readonly authenticate: Authenticate;
} {
  const authenticate = createAuthenticate(deps);
  const owners = new WeakMap<Exchange, string>();
  const admit = (exchange: Exchange) => {
    const { headers, address, incoming } = exchange;
    const caller = authenticate(headers, address, incoming.socket);
    owners.set(exchange, caller.owner);
    if (deps.isClosing()) throw shuttingDown();
    return caller;
  };
  const routers = {
    main: createRouter(mainRoutes(deps, admit)),
    applet: createRouter(appletRoutes(deps)),
  };

  const respond = async (
    exchange: Exchange,
    { corsOrigin, problem }: SiteCheck,
  ): Promise<Reply | Response> => {
    const { method, headers } = exchange;
    const target = toTarget(exchange.incoming);
    if (method === 'OPTIONS' && corsOrigin !== undefined)
      return { status: 204, headers: preflightHeaders, body: '' };
    const { kind = 'main' } = deps.sites.find(headers.get('host')) ?? {};
    const { handler, params = {} } = routers[kind].find(method, target.path) ?? {};
    // A call reports a missing token (401) before a foreign Host or Origin (403).
    if (handler?.access === 'caller') {
      const caller = admit(exchange);
      // Over MCP, clients introduce themselves with a name of their own.
      if (target.path !== '/mcp') deps.clients.seen(caller.client);
      if (!handler.forViewers) refuseViewer(caller);
      return handler.handle(caller, exchange, { ...target, params });
    }
    if (problem) throw problem;
    if (!handler) return answerWithoutRoute(method, target.path, routers[kind].methodsAt(target.path));
    return handler.handle(exchange, { ...target, params });
  };
  const serve = async (exchange: Exchange) => {
    const site = checkSite(deps.sites, exchange.headers);
    const reply = await respond(exchange, site).catch((error: unknown) =>
      toFailureReply(toFailure(error, deps.log)),
    );
    deps.requests.add(reply.status, owners.get(exchange));
    dropUnreadBody(exchange);
    if (reply instanceof Response) await sendWebResponse(exchange.outgoing, reply, site.corsOrigin);
    else send(exchange, reply, site.corsOrigin);
  };
  return {
    authenticate(headers, address, connection) {
      const caller = authenticate(headers, address, connection);
      deps.clients.seen(caller.client);
      return caller;
    },
    listener: (incoming, outgoing) =>
      void serve(openExchange(incoming, outgoing)).catch((error: unknown) => {
        toFailure(error, deps.log);
        outgoing.destroy();
      }),
  };
}

interface SiteCheck {
  readonly corsOrigin?: string | undefined;
  readonly problem?: HttpProblem;
}

function checkSite(sites: Sites, headers: RequestHeaders): SiteCheck {
  try {
    return { corsOrigin: sites.check(headers) };
  } catch (error) {
    if (error instanceof HttpProblem) return { problem: error };
    throw error;
  }
}

// No route has this method: OPTIONS lists the methods that the path accepts, and any other method is 405 or 404.
function answerWithoutRoute(method: string, path: string, accepted: readonly string[]): Reply {
  if (accepted.length === 0) throw nothingAt(method, path);
  const headers = { Allow: [...accepted, 'OPTIONS'].join(', ') };
  if (method === 'OPTIONS') return { status: 204, headers, body: '' };
  throw new HttpProblem(405, `${path} does not accept ${method}; use ${accepted.join(' or ')}.`, headers);
}

function nothingAt(method: string, path: string): HttpProblem {
  return new HttpProblem(404, `There is nothing at ${method} ${path}; GET /docs lists every route.`);
}
