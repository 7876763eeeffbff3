// Who calls, in the order that a refusal must have:
// 1. a token or a page's cookie says who it is, else 401, 2. Host and Origin must be ours, else 403,
// 3. a cookie counts only for the very page it was given to: cookies ignore ports, and browsers tell who asks.
import type { Applets } from './applets/applets.ts';
import type { Callers, HttpCaller } from './callers.ts';
import { charge, tooMany } from './charge.ts';
import { networkOf } from './network-of.ts';
import type { PageSessions } from './page-sessions.ts';
import { HttpProblem } from './problem.ts';
import { createRateLimit } from './rate-limit.ts';
import type { RequestHeaders } from './raw-headers.ts';
import type { Site, Sites } from './sites.ts';

/** What is needed to tell callers apart. */
export interface AuthenticationParts {
  readonly callers: Callers;
  readonly sites: Sites;
  readonly pages: PageSessions;
  readonly applets: Applets;
  /** Told of every attempt that failed. */
  readonly onRefused: (address: string, reason: string) => void;
}

/** Tells who sends a request with these headers from this address; throws 401, 403 or 429. */
export type Authenticate = (headers: RequestHeaders, address: string) => HttpCaller;

const failuresPerMinute = 10;

/** Makes the check that every call and every upgrade goes through. */
export function createAuthenticate(parts: AuthenticationParts): Authenticate {
  const failures = createRateLimit(failuresPerMinute);
  return (headers, address) => {
    const found = identify(parts, headers);
    if (found === undefined) {
      const reason = headers.has('authorization') ? 'a token that is not valid' : 'no token';
      // Who goes on and on must not fill the log.
      const waitMs = failures.take(networkOf(address));
      if (waitMs > 0) throw tooManyFailures(waitMs);
      parts.onRefused(address, reason);
      throw unknown();
    }
    const otherPage = parts.sites.check(headers);
    if (found.byCookie && (otherPage !== undefined || !isOwnPage(headers))) throw unknown();
    charge(found.caller, 'requests');
    return found.caller;
  };
}

interface Identified {
  readonly caller: HttpCaller;
  readonly byCookie: boolean;
}

function identify(parts: AuthenticationParts, headers: RequestHeaders): Identified | undefined {
  const site = parts.sites.find(headers.get('host'));
  const token = /^bearer +(\S+)$/i.exec(headers.get('authorization') ?? '')?.[1];
  if (token !== undefined && site?.kind !== 'applet') {
    const caller = parts.callers.byToken(token);
    return caller && { caller, byCookie: false };
  }
  const caller = site && fromCookie(parts, headers, site);
  return caller && { caller, byCookie: true };
}

function fromCookie(
  { pages, callers, applets }: AuthenticationParts,
  headers: RequestHeaders,
  site: Site,
): HttpCaller | undefined {
  const cookies = readCookies(headers.get('cookie') ?? '', site.cookieName);
  const [identity] = cookies.flatMap((cookie) => pages.find(cookie, site.origin) ?? []);
  if (identity === undefined) return undefined;
  if (identity.slug === undefined) return { ...callers.own, client: 'page' };
  return applets.find(identity.slug)?.caller;
}

// Pages on other ports of the host can add cookies of our name, but none that is valid.
function readCookies(header: string, name: string): readonly string[] {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
}

// `check` has seen to it that an Origin is the site's own or is named as another; one of the two must be there.
function isOwnPage(headers: RequestHeaders): boolean {
  return headers.has('origin') || headers.get('sec-fetch-site') === 'same-origin';
}

function unknown(): HttpProblem {
  const message =
    'A valid token is needed: send it as Authorization: Bearer TOKEN, or open the link of the server.';
  return new HttpProblem(401, message, { 'WWW-Authenticate': 'Bearer realm="nacre"' });
}

function tooManyFailures(waitMs: number): HttpProblem {
  return tooMany('There were too many attempts without a valid token.', waitMs);
}
