import type { PageRole } from '../../../contract/console.ts';
import { createSecret } from './tokens.ts';

/** A page that is signed in: the server's own, or an applet's. */
export interface PageIdentity {
  /** The applet; undefined for the server's own pages. */
  readonly slug?: string | undefined;
  /** Whether its user may act or only look; undefined for an applet. */
  readonly role?: PageRole | undefined;
  /** Its name in records; empty for none. */
  readonly name?: string | undefined;
  /** The only origin at which the session is valid. */
  readonly origin: string;
  /** The origin of the console that opened the applet, for the link back. */
  readonly startOrigin?: string | undefined;
}

/** One-time tickets of links, and the page sessions that they open. */
export interface PageSessions {
  /** Creates the ticket of a link; it opens one session, once, within ten minutes. */
  issueTicket(identity: PageIdentity): string;
  /** The page that a ticket opens, without using it; undefined if it is used, expired or of another origin. */
  findTicket(ticket: string, origin: string): PageIdentity | undefined;
  /** Exchanges a ticket for a cookie value; undefined if it is used, expired or of another origin. */
  redeem(ticket: string, origin: string): string | undefined;
  /** The page that a cookie belongs to; undefined if it expired or is of another origin. */
  find(cookie: string, origin: string): PageIdentity | undefined;
  /** Ends a session: its cookie is no longer valid. */
  end(cookie: string): void;
}

interface StoredIdentity {
  readonly identity: PageIdentity;
  until: number;
}

const ticketMs = 600_000;
const ownSessionMs = 12 * 3_600_000;
const appletSessionMs = 1_800_000;
const maxStored = 10_000;

/** Creates an empty store; tickets and sessions live in memory only and end with the server. */
export function createPageSessions(now: () => number = () => performance.now()): PageSessions {
  const tickets = new Map<string, StoredIdentity>();
  const sessions = new Map<string, StoredIdentity>();
  const find = (store: Map<string, StoredIdentity>, secret: string, origin: string) => {
    const found = store.get(secret);
    return found && found.until > now() && found.identity.origin === origin ? found : undefined;
  };
  const add = (store: Map<string, StoredIdentity>, identity: PageIdentity, lifetimeMs: number) => {
    const secret = createSecret();
    makeRoom(store, now());
    store.set(secret, { identity, until: now() + lifetimeMs });
    return secret;
  };
  const sessionMs = ({ slug }: PageIdentity) => (slug === undefined ? ownSessionMs : appletSessionMs);

  return {
    issueTicket: (identity) => add(tickets, identity, ticketMs),
    findTicket: (ticket, origin) => find(tickets, ticket, origin)?.identity,
    redeem(ticket, origin) {
      const found = find(tickets, ticket, origin);
      if (!found) return undefined;
      tickets.delete(ticket);
      return add(sessions, found.identity, sessionMs(found.identity));
    },
    end: (cookie) => void sessions.delete(cookie),
    find(cookie, origin) {
      const found = find(sessions, cookie, origin);
      if (found) found.until = now() + sessionMs(found.identity);
      return found?.identity;
    },
  };
}

function makeRoom(store: Map<string, StoredIdentity>, now: number): void {
  if (store.size < maxStored) return;
  for (const [secret, { until }] of store) if (until <= now) store.delete(secret);
  const [oldest] = store.keys();
  if (store.size >= maxStored && oldest !== undefined) store.delete(oldest);
}
