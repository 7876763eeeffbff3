// Identifies the caller of a request or WebSocket upgrade, in the order that refusals must have:
// 1. a token or a page's cookie identifies the caller, else 401, 2. Host and Origin must be ours, else 403,
// 3. a cookie is accepted only from its own page: browsers also attach it to requests from pages on other ports,
//    but Origin and Sec-Fetch-Site name the page that sent the request.
import { HttpProblem } from '../requests/problem.ts';
import type { RequestHeaders } from '../requests/raw-headers.ts';
import type { Callers, HttpCaller } from './callers.ts';
import { networkOf } from './network-of.ts';
import type { FoundPage, PageSessions } from './page-sessions.ts';
import { charge, createRateLimit, type RateLimit, tooMany } from './rate-limit.ts';
import type { Site, Sites } from './sites.ts';

/** Dependencies of `createAuthenticate`. */
export interface AuthenticateDeps {
  readonly callers: Callers;
  readonly sites: Sites;
  readonly pages: PageSessions;
  readonly applets: { find(slug: string): { readonly caller: HttpCaller } | undefined };
  /** Called for every failed attempt within the rate limit. */
  readonly onRefused: (address: string, reason: string) => void;
}

/** Returns the caller that sends these headers from this address and connection; throws 401, 403 or 429. */
export type Authenticate = (headers: RequestHeaders, address: string, connection: object) => HttpCaller;

const failuresPerMinute = 10;

/** Creates the check that every call and every upgrade passes. */
export function createAuthenticate(deps: AuthenticateDeps): Authenticate {
  const byToken = createTokenCheck(deps);
  const withoutToken = createRateLimit(failuresPerMinute);
  return (headers, address, connection) => {
    const site = deps.sites.find(headers.get('host'));
    const token = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
    const hasToken = token !== undefined && site?.kind !== 'applet';
    const caller = hasToken ? byToken(token, address, connection) : site && fromCookie(deps, headers, site);
    if (caller === undefined) {
      refuse(deps, withoutToken, address, headers.has('authorization') ? 'not a bearer token' : 'no token');
      throw unauthenticated();
    }
    const corsOrigin = deps.sites.check(headers);
    if (!hasToken && (corsOrigin !== undefined || !isOwnPage(headers))) throw unauthenticated();
    charge(caller, 'requests');
    return caller;
  };
}

// The rate limit comes before the comparison: during many wrong attempts from one address, a right token is refused
// like the others. Otherwise the reply would show a guesser which token is right. A connection that has already sent a
// right token may repeat it, so that a guesser at the same address does not interrupt a working client. A session's
// cookie is not limited: it is random, and a page of another site cannot choose it.
function createTokenCheck(deps: AuthenticateDeps) {
  const guesses = createRateLimit(failuresPerMinute);
  const proven = new WeakMap<object, string>();
  return (token: string, address: string, connection: object): HttpCaller => {
    const waitMs = proven.get(connection) === token ? 0 : guesses.waitMs(networkOf(address));
    if (waitMs > 0) throw tooManyAttempts(waitMs);
    const caller = deps.callers.byToken(token);
    if (caller === undefined) {
      refuse(deps, guesses, address, 'a token that is not valid');
      throw unauthenticated();
    }
    proven.set(connection, token);
    return caller;
  };
}

// Limited before `onRefused`, so that repeated attempts cannot fill the log.
function refuse(deps: AuthenticateDeps, limit: RateLimit, address: string, reason: string): void {
  const waitMs = limit.take(networkOf(address));
  if (waitMs > 0) throw tooManyAttempts(waitMs);
  deps.onRefused(address, reason);
}

function tooManyAttempts(waitMs: number): HttpProblem {
  return tooMany('There were too many attempts without a valid token.', waitMs);
}

/** The page whose session cookie these headers have, for the site that they are sent to. */
export function findPage(
  { pages }: Pick<AuthenticateDeps, 'pages'>,
  headers: RequestHeaders,
  site: Site,
): FoundPage | undefined {
  const cookies = readCookies(headers.get('cookie') ?? '', site.cookieName);
  return cookies.flatMap((cookie) => pages.find(cookie, site.origin) ?? [])[0];
}

function fromCookie(deps: AuthenticateDeps, headers: RequestHeaders, site: Site): HttpCaller | undefined {
  const { callers, applets } = deps;
  const identity = findPage(deps, headers, site);
  if (identity === undefined) return undefined;
  if (identity.slug === undefined) return toPageCaller(callers.own, identity);
  return applets.find(identity.slug)?.caller;
}

function toPageCaller(own: HttpCaller, { id, role = 'operator', name = '' }: FoundPage): HttpCaller {
  return { ...own, client: name === '' ? 'page' : `page ${name}`, page: { id, role, name } };
}

// Pages on other ports of the host can set more cookies of this name, so each value is tried.
/** Every value of a cookie with this name. */
export function readCookies(header: string, name: string): readonly string[] {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}

// `sites.check` has accepted the Origin, if there is one; without it, Sec-Fetch-Site has to name the same origin.
function isOwnPage(headers: RequestHeaders): boolean {
  return headers.has('origin') || headers.get('sec-fetch-site') === 'same-origin';
}

function unauthenticated(): HttpProblem {
  const message =
    'A valid token is required: send it as Authorization: Bearer TOKEN, or open the link that the server printed.';
  return new HttpProblem(401, message, { 'WWW-Authenticate': 'Bearer realm="nacre"' });
}
