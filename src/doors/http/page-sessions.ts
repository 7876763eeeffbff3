import { createSecret } from './secrets.ts';

/** What a page may be: one of the server itself, or of an applet. */
export interface PageIdentity {
  /** The applet's name; undefined for the server's own pages. */
  readonly slug?: string | undefined;
  /** The only origin at which it counts. */
  readonly origin: string;
}

/** Who the pages are that the server itself has served. */
export interface PageSessions {
  /** Makes what a link carries; it opens one session, once, within ten minutes. */
  issueTicket(identity: PageIdentity): string;
  /** Turns what a link carried into the value of a cookie; undefined when it was used or is too old. */
  redeem(ticket: string, origin: string): string | undefined;
  /** Whose cookie it is, where it came with a request of the page it was given to. */
  find(cookie: string, origin: string): PageIdentity | undefined;
}

interface Kept {
  readonly identity: PageIdentity;
  until: number;
}

const ticketMs = 600_000;
const ownSessionMs = 12 * 3_600_000;
const appletSessionMs = 1_800_000;
const mostKept = 10_000;

function makeRoom(kept: Map<string, Kept>, now: number): void {
  if (kept.size < mostKept) return;
  for (const [old, { until }] of kept) if (until <= now) kept.delete(old);
  const [oldest] = kept.keys();
  if (kept.size >= mostKept && oldest !== undefined) kept.delete(oldest);
}

/** Keeps tickets and sessions in memory alone: when the server ends, so do they. */
export function createPageSessions(now: () => number = () => performance.now()): PageSessions {
  const tickets = new Map<string, Kept>();
  const sessions = new Map<string, Kept>();
  const find = (kept: Map<string, Kept>, secret: string, origin: string) => {
    const found = kept.get(secret);
    return found && found.until > now() && found.identity.origin === origin ? found : undefined;
  };
  const keep = (kept: Map<string, Kept>, identity: PageIdentity, lastsMs: number) => {
    const secret = createSecret();
    makeRoom(kept, now());
    kept.set(secret, { identity, until: now() + lastsMs });
    return secret;
  };
  const lifetime = ({ slug }: PageIdentity) => (slug === undefined ? ownSessionMs : appletSessionMs);

  return {
    issueTicket: (identity) => keep(tickets, identity, ticketMs),
    redeem(ticket, origin) {
      const found = find(tickets, ticket, origin);
      if (!found) return undefined;
      tickets.delete(ticket);
      return keep(sessions, found.identity, lifetime(found.identity));
    },
    find(cookie, origin) {
      const found = find(sessions, cookie, origin);
      if (found) found.until = now() + lifetime(found.identity);
      return found?.identity;
    },
  };
}
