// How a browser gets to the console, and from there to an applet:
// 1. the button behind a one-time link sets a cookie for one origin, 2. the console's page is public and empty; its script
// fetches everything with that cookie, 3. the link to an applet is another one-time link, to the applet's own origin, 4. GET /start leads
// back from there.
import { z } from 'zod';
import type { Engine } from '../../../engine/engine.ts';
import { receive } from '../../../tools/common/define-tool.ts';
import { findPage, readCookies } from '../access/authenticate.ts';
import { type Callers, type HttpCaller, refuseViewer, toCaller } from '../access/callers.ts';
import type { PageSessions } from '../access/page-sessions.ts';
import type { Site, Sites } from '../access/sites.ts';
import type { AppletAddress } from '../applets/applet-addresses.ts';
import type { Applets } from '../applets/applets.ts';
import { appletPolicy } from '../requests/headers.ts';
import { HttpProblem } from '../requests/problem.ts';
import type { RequestHeaders } from '../requests/raw-headers.ts';
import { type Exchange, type Reply, toJsonReply } from '../requests/raw-http.ts';
import { readForm, readJson } from '../requests/read-body.ts';
import { noFile, serveFile } from './static-files.ts';

/** Dependencies of the page endpoints. */
export interface PageDeps {
  readonly sites: Sites;
  readonly pages: PageSessions;
  readonly callers: Callers;
  readonly applets: Applets;
  readonly appletAddress: AppletAddress;
  readonly version: string;
  readonly engine: () => Promise<Engine>;
}

/**
 * Serves GET /open?ticket=…: a page with a button that redeems the ticket. GET alone does not, since browsers, chats and scanners fetch
 * links in advance. The ticket of an applet appears only in a redirect from the console, so it is redeemed at once.
 */
export function openLink(
  { sites, pages }: Pick<PageDeps, 'sites' | 'pages'>,
  { method, headers }: Exchange,
  search: string,
): Reply {
  const site = sites.find(headers.get('host'));
  const ticket = new URLSearchParams(search).get('ticket') ?? '';
  const identity = site && pages.findTicket(ticket, site.origin);
  if (site === undefined || identity === undefined) return usedLink();
  if (identity.slug !== undefined && method === 'GET' && !isPrefetch(headers))
    return signIn({ pages }, site, ticket);
  const form = `<form method="post" action="/open"><input type="hidden" name="ticket" value="${ticket}"><button autofocus>Open nacre</button></form>`;
  const { headers: own, ...page } = toPage(200, form);
  const policy = "default-src 'none'; form-action 'self'; frame-ancestors 'none'";
  // With `no-referrer`, a browser would send the form with the Origin null.
  return {
    ...page,
    headers: { ...own, 'Content-Security-Policy': policy, 'Referrer-Policy': 'same-origin' },
  };
}

/** Serves POST /open, the button of that page: exchanges the ticket for a session cookie. */
export async function redeemLink(
  { sites, pages, engine }: Pick<PageDeps, 'sites' | 'pages' | 'engine'>,
  { incoming, headers }: Exchange,
): Promise<Reply> {
  const ticket = (await readForm(incoming)).get('ticket') ?? '';
  const site = sites.find(headers.get('host'));
  const identity = site && pages.findTicket(ticket, site.origin);
  if (site === undefined || identity === undefined) return usedLink();
  const { role = 'operator', name = '' } = identity;
  const client = name === '' ? 'page' : `page ${name}`;
  if (identity.slug === undefined)
    (await engine()).notePageAct('signed_in', { door: 'http', client }, { detail: role });
  return signIn({ pages }, site, ticket);
}

function signIn({ pages }: Pick<PageDeps, 'pages'>, site: Site, ticket: string): Reply {
  const cookie = pages.redeem(ticket, site.origin);
  if (cookie === undefined) return usedLink();
  const secure = site.origin.startsWith('https:') ? '; Secure' : '';
  // The reply is not a redirect, because a browser sends no cookie with SameSite=Strict after a redirect that began at
  // another site.
  const { headers: own, ...page } = toPage(200, 'Opening…', '<meta http-equiv="refresh" content="0;url=/">');
  const setCookie = `${site.cookieName}=${cookie}; Path=/; HttpOnly; SameSite=Strict${secure}`;
  return { ...page, headers: { ...own, 'Set-Cookie': setCookie } };
}

function usedLink(): Reply {
  return toPage(401, 'This link has been used or has expired; nacre open makes a new one.');
}

function isPrefetch(headers: RequestHeaders): boolean {
  return ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'].some((name) =>
    /prefetch|prerender|preview/i.test(headers.get(name) ?? ''),
  );
}

/** Serves POST /api/link: a new one-time link to the console, for an operator or a viewer, under the Host name of the request. */
export async function makeLink(
  { sites, pages, callers, engine }: Pick<PageDeps, 'sites' | 'pages' | 'callers' | 'engine'>,
  caller: HttpCaller,
  { headers, incoming }: Exchange,
): Promise<Reply> {
  if (caller.owner !== callers.own.owner)
    throw new HttpProblem(403, "Only the server's own token opens its pages; use that token.");
  const isEmpty = headers.get('content-length') === '0' || !headers.has('content-type');
  const { role, name } = receive('link', linkRequest, isEmpty ? {} : await readJson(incoming));
  const origin = sites.find(headers.get('host'))?.origin ?? sites.address();
  (await engine()).notePageAct('linked', toCaller(caller), { detail: `${role} ${name}`.trim() });
  return toJsonReply(200, { link: `${origin}/open?ticket=${pages.issueTicket({ origin, role, name })}` });
}

const linkRequest = z.strictObject({
  role: z.enum(['operator', 'viewer']).default('operator').describe('A viewer has read-only access.'),
  name: z
    .string()
    .regex(/^[\p{L}\p{N} ._-]{0,40}$/u, 'must be at most 40 letters, digits, blanks and . _ -')
    .default('')
    .describe('The name of the page in the audit log.'),
});

/** Serves DELETE /api/session: ends the session of the page. */
export async function signOut(
  { sites, pages, engine }: Pick<PageDeps, 'sites' | 'pages' | 'engine'>,
  caller: HttpCaller,
  { headers }: Exchange,
): Promise<Reply> {
  const site = sites.find(headers.get('host'));
  if (caller.page) (await engine()).notePageAct('signed_out', toCaller(caller));
  for (const cookie of readCookies(headers.get('cookie') ?? '', site?.cookieName ?? '')) pages.end(cookie);
  return { status: 204, headers: {}, body: '' };
}

/** Serves DELETE /api/pages/ID: signs another page out, and closes its socket. */
export async function endPage(
  { pages, engine }: Pick<PageDeps, 'pages' | 'engine'>,
  caller: HttpCaller,
  id: string,
): Promise<Reply> {
  const ended = pages.endById(id);
  if (!ended) throw new HttpProblem(404, `There is no page ${JSON.stringify(id.slice(0, 64))}.`);
  const detail = `${ended.role ?? 'operator'} ${ended.name ?? ''}`.trim();
  (await engine()).notePageAct('signed_out', toCaller(caller), { detail });
  return { status: 204, headers: {}, body: '' };
}

/** Serves GET /applets/SLUG/: redirects a signed-in page to the applet's own origin. */
export async function redirectToApplet(
  { appletAddress, pages, applets, callers, sites }: PageDeps,
  caller: HttpCaller,
  { headers }: Exchange,
  slug: string,
): Promise<Reply> {
  refuseViewer(caller);
  const { owner } = caller;
  if (owner !== callers.own.owner)
    throw new HttpProblem(403, "Only the server's own token opens applets; use that token.");
  if (!applets.find(slug)) throw noApplet(slug);
  const origin = await appletAddress(slug);
  const startOrigin = sites.find(headers.get('host'))?.origin;
  return redirect(`${origin}/open?ticket=${pages.issueTicket({ slug, origin, startOrigin })}`);
}

/** Serves GET /start: redirects an applet to the console that opened it, which the browser is signed in to. */
export function redirectToStart(
  { sites, pages }: Pick<PageDeps, 'sites' | 'pages'>,
  { headers }: Exchange,
): Reply {
  const site = sites.find(headers.get('host'));
  if (site?.kind !== 'applet') return redirect('/');
  return redirect(`${findPage({ pages }, headers, site)?.startOrigin ?? sites.address()}/`);
}

/** A 302 to another address. */
export function redirect(location: string): Reply {
  return { status: 302, headers: { Location: location }, body: '' };
}

/** Serves a file of an applet, on its own origin. */
export async function serveApplet(
  { applets }: Pick<PageDeps, 'applets'>,
  slug: string,
  { headers }: Exchange,
  path: string,
): Promise<Reply> {
  const isWorker = headers.get('service-worker') === 'script';
  const applet = applets.find(slug);
  if (!applet) return endWorker(isWorker, noApplet(slug));
  const { entry, workers } = applet.manifest;
  if (isWorker && !workers) return endWorker(isWorker, noFile(path));
  const policy = appletPolicy({ workers });
  const file = serveFile(applet.folder, path === '/' ? `/${entry}` : path, { policy, headers });
  return file.catch((error: unknown) => endWorker(isWorker, error));
}

/**
 * Replies to a request for a service worker's script that does not exist (any more) with a script that unregisters the
 * worker. A browser fetches the script without involving the worker, but keeps the worker after an error, so the worker
 * of a replaced applet would keep answering for the origin. Clear-Site-Data also removes its stored data.
 */
function endWorker(isWorker: boolean, problem: unknown): Reply {
  if (!isWorker) throw problem;
  const headers = {
    'Content-Type': 'text/javascript; charset=utf-8',
    'Clear-Site-Data': '"cache", "storage"',
    'Service-Worker-Allowed': '/',
  };
  return { status: 200, headers, body: unregisteringWorker };
}

const unregisteringWorker = `self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => {
  const reload = async () => {
    await self.registration.unregister();
    for (const page of await self.clients.matchAll({ type: 'window' })) await page.navigate(page.url);
  };
  event.waitUntil(reload());
});
`;

function noApplet(slug: string): HttpProblem {
  return new HttpProblem(404, `There is no applet ${JSON.stringify(slug)}; the console lists them.`);
}

function toPage(status: number, text: string, head = ''): Reply {
  const body = `<!doctype html><html lang="en"><meta charset="utf-8"><title>nacre</title>${head}<main><h1>nacre</h1><p>${text}</p><p><a href="/start">Console</a></p></main></html>`;
  return { status, headers: { 'Content-Type': 'text/html; charset=utf-8' }, body };
}
