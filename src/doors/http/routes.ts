import { Hono } from 'hono';
import { toMcpTool } from '../to-mcp-tool.ts';
import type { AppParts, Call, Env } from './create-app.ts';
import { inLine } from './line.ts';
import { toOpenApi } from './open-api.ts';
import { leadToApplet, makeLink, openLink, serveApplet, servePage, tellState } from './page-routes.ts';
import { HttpProblem, toAnswer } from './problem.ts';
import { readJson } from './read-body.ts';
import { serveShell } from './serve-shell.ts';
import { tellMetrics } from './tell-metrics.ts';
import { callTool } from './tool-call.ts';

/** The routes of the server itself. */
export function createMain(parts: AppParts, call: Call): Hono<Env> {
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
  app.get('/applets/:slug', ({ req, redirect }) =>
    redirect(`/applets/${encodeURIComponent(req.param('slug'))}/`),
  );
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
  app.post(
    '/api/link',
    call((caller, _, { req }) => makeLink(parts, caller, req.raw)),
  );
  app.get(
    '/api/tools',
    call(({ tools }) => Response.json({ tools: tools.map(toMcpTool) })),
  );
  app.post(
    '/api/tools/:name',
    call(async (caller, { incoming, signal, send }, { req }) => {
      const body = await readJson(incoming);
      return inLine(parts.line, caller, signal, async () =>
        send(200, await callTool(req.param('name') ?? '', body, caller, signal)),
      );
    }),
  );
  app.all(
    '/mcp',
    call((caller, _, { req }) => parts.mcp.answer(req.raw, caller)),
  );
  return app;
}

/** The routes of an applet's origin. */
export function createAppletSite(parts: AppParts, call: Call): Hono<Env> {
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
    call((caller, received) => serveShell(parts, caller, received)),
  );
  app.notFound(({ req }) => {
    parts.sites.check(req.raw.headers);
    throw new HttpProblem(
      404,
      `There is nothing at ${req.method} ${new URL(req.url).pathname}; docs/reference/http.md lists what there is.`,
    );
  });
  app.onError((error) => toAnswer(error, parts.log));
  return app;
}

function ready({ isClosing }: AppParts): Response {
  return isClosing()
    ? Response.json({ status: 'closing' }, { status: 503 })
    : Response.json({ status: 'ready' });
}
