// Who calls, in the order that a refusal must have:
// 1. a token or a page's cookie says who it is, else 401, 2. Host and Origin must be ours, else 403,
// 3. a cookie counts only for the very page it was given to: cookies ignore ports, and browsers tell who asks.
import type { Applets } from './applets/applets.ts';
import type { Callers, HttpCaller } from './callers.ts';
import type { PageSessions } from './page-sessions.ts';
import { HttpProblem } from './problem.ts';
import { createRateLimit } from './rate-limit.ts';
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
export type Authenticate = (headers: Headers, address: string) => HttpCaller;

const failuresPerMinute = 10;

/** Makes the check that every call and every upgrade goes through. */
export function createAuthenticate(parts: AuthenticationParts): Authenticate {
  const failures = createRateLimit(failuresPerMinute);
  return (headers, address) => {
    const found = identify(parts, headers);
    if (found === undefined) {
      const reason = headers.has('authorization') ? 'a token that is not valid' : 'no token';
      // Who goes on and on must not fill the log.
      if (!failures.take(address)) throw tooManyFailures();
      parts.onRefused(address, reason);
      throw unknown();
    }
    parts.sites.check(headers);
    if (found.byCookie && !isOwnPage(headers)) throw unknown();
    if (found.caller.rate && !found.caller.rate.take('')) throw tooManyCalls();
    return found.caller;
  };
}

interface Identified {
  readonly caller: HttpCaller;
  readonly byCookie: boolean;
}

function identify(parts: AuthenticationParts, headers: Headers): Identified | undefined {
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
  headers: Headers,
  site: Site,
): HttpCaller | undefined {
  const cookie = readCookie(headers.get('cookie') ?? '', site.cookieName);
  const identity = cookie === undefined ? undefined : pages.find(cookie, site.origin);
  if (identity === undefined) return undefined;
  if (identity.slug === undefined) return { ...callers.own, client: 'page' };
  return applets.find(identity.slug)?.caller;
}

function readCookie(header: string, name: string): string | undefined {
  const pairs = header.split(';').map((pair) => pair.trim());
  return pairs.find((pair) => pair.startsWith(`${name}=`))?.slice(name.length + 1);
}

// `check` has seen to it that an Origin is the site's own; one of the two must be there.
function isOwnPage(headers: Headers): boolean {
  return headers.has('origin') || headers.get('sec-fetch-site') === 'same-origin';
}

function unknown(): HttpProblem {
  const message =
    'A valid token is needed: send it as Authorization: Bearer TOKEN, or open the link of the server.';
  return new HttpProblem(401, message, { 'WWW-Authenticate': 'Bearer realm="nacre"' });
}

function tooManyFailures(): HttpProblem {
  return new HttpProblem(429, 'Too many attempts without a valid token. Wait a minute.', {
    'Retry-After': '60',
  });
}

function tooManyCalls(): HttpProblem {
  return new HttpProblem(429, 'The rate of this token is used up. Try again in a moment.', {
    'Retry-After': '1',
  });
}
