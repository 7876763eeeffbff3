// The pages of the server itself, and how people get to applets:
// 1. a one-time link becomes a cookie for one origin, 2. the start page is public and empty; its script asks for what it
// shows with that cookie, 3. the way to an applet is another one-time link, for the applet's own origin.
import { fileURLToPath } from 'node:url';
import type { HttpCaller } from './callers.ts';
import type { AppParts } from './create-app.ts';
import { appletPolicy, pagePolicy } from './headers.ts';
import { HttpProblem } from './problem.ts';
import { serveFile } from './static-files.ts';

// Beside this file, or, when everything is built into one folder, in it.
const folder = fileURLToPath(new URL('./pages', import.meta.url));

/** A file of the server's own pages. */
export function servePage(name: string): Promise<Response> {
  return serveFile(folder, `/${name}`, pagePolicy);
}

/** Turns a one-time link into a session of the page, at whichever site it leads to. */
export function openLink({ sites, pages }: AppParts, request: Request): Response {
  // Whoever only looks where a link leads must not use it up.
  if (request.method !== 'GET')
    throw new HttpProblem(405, `A link is opened with GET, not ${request.method}.`, { Allow: 'GET' });
  const site = sites.find(request.headers.get('host'));
  const ticket = new URL(request.url).searchParams.get('ticket') ?? '';
  const cookie = site && pages.redeem(ticket, site.origin);
  if (site === undefined || cookie === undefined)
    return toPage('This link was used already, or is too old; nacre serve prints a new one.', 401);
  const secure = site.origin.startsWith('https:') ? '; Secure' : '';
  const answer = toPage('Opening…', 200, '<meta http-equiv="refresh" content="0;url=/">');
  answer.headers.set(
    'Set-Cookie',
    `${site.cookieName}=${cookie}; Path=/; HttpOnly; SameSite=Strict${secure}`,
  );
  return answer;
}

/** Makes one more link to the start page, by the name under which the server was asked for it. */
export function makeLink(
  { sites, pages, callers }: AppParts,
  { owner }: HttpCaller,
  { headers }: Request,
): Response {
  if (owner !== callers.own.owner)
    throw new HttpProblem(403, "Only the server's own token opens its pages; call with that one.");
  const origin = sites.find(headers.get('host'))?.origin ?? sites.address();
  return Response.json({ link: `${origin}/open?ticket=${pages.issueTicket({ origin })}` });
}

/** Leads a page of the server to an applet, at the applet's own origin. */
export async function leadToApplet(
  { appletAddress, pages, applets, callers }: AppParts,
  { owner }: HttpCaller,
  slug: string,
): Promise<Response> {
  if (owner !== callers.own.owner)
    throw new HttpProblem(403, "Only the server's own token opens applets; call with that one.");
  if (!applets.find(slug)) throw noApplet(slug);
  const origin = await appletAddress(slug);
  const ticket = pages.issueTicket({ slug, origin });
  return new Response(null, { status: 302, headers: { Location: `${origin}/open?ticket=${ticket}` } });
}

/** A file of an applet. */
export function serveApplet({ applets }: AppParts, slug: string, path: string): Promise<Response> {
  const applet = applets.find(slug);
  if (!applet) throw noApplet(slug);
  const { entry } = applet.manifest;
  return serveFile(applet.folder, path === '/' ? `/${entry}` : path, appletPolicy);
}

/** What the start page shows to this caller. */
export function tellState(
  { applets, history, version, settings, callers }: AppParts,
  { owner }: HttpCaller,
): Response {
  const isOwn = owner === callers.own.owner;
  const entries = history.list(isOwn ? undefined : owner);
  const found = applets.list();
  return Response.json({
    version,
    running: entries.filter(({ outcome }) => outcome === null),
    recent: entries.filter(({ outcome }) => outcome !== null).slice(0, 50),
    applets: found.applets.map(({ manifest, refused }) => ({ ...manifest, refused })),
    // These name files of the server's own user.
    problems: isOwn ? found.problems : [],
    terminal_shells: settings.terminalShells,
  });
}

function noApplet(slug: string): HttpProblem {
  return new HttpProblem(
    404,
    `There is no applet ${JSON.stringify(slug)}; the start page lists those there are.`,
  );
}

function toPage(words: string, status: number, head = ''): Response {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>nacre</title>${head}<p>${words} <a href="/">Start page</a></p></html>`;
  return new Response(html, { status, headers: { 'Content-Type': 'text/html; charset=utf-8' } });
}
