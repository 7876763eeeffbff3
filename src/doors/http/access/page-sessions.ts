import type { PageRole } from '../../../contract/console.ts';
import { createId } from '../../../support/ids.ts';
import { createSecret } from './tokens.ts';

/** A signed-in page: the server's own, or an applet's. */
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

/** A page of the console that is signed in, as the console lists it. */
export interface SignedInPage {
  readonly id: string;
  readonly role: PageRole;
  readonly name: string;
  readonly since: string;
  /** When it sent its last request. */
  readonly seen: string;
  /** True while it has a socket. */
  readonly open: boolean;
}

/** A page with the id of its session. */
export type FoundPage = PageIdentity & { readonly id: string };

/** One-time tickets of links, and the page sessions that they open. */
export interface PageSessions {
  /** Creates the ticket of a link; it opens one session, once, within ten minutes. */
  issueTicket(identity: PageIdentity): string;
  /** The page that a ticket opens, without using it; undefined if it is used, expired or of another origin. */
  findTicket(ticket: string, origin: string): PageIdentity | undefined;
  /** Exchanges a ticket for a cookie value; undefined if it is used, expired or of another origin. */
  redeem(ticket: string, origin: string): string | undefined;
  /** The page that a cookie belongs to; undefined if it expired or is of another origin. */
  find(cookie: string, origin: string): FoundPage | undefined;
  /** Ends a session: its cookie is no longer valid. */
  end(cookie: string): void;
  /** The signed-in pages of the console; those of applets are not listed. */
  list(): readonly SignedInPage[];
  /** Ends the session with this id; undefined if there is none. */
  endById(id: string): PageIdentity | undefined;
  /**
   * Keeps a session from expiring while its page has a socket; `onEnd` is called if the session is ended. The returned
   * function lets it expire again.
   */
  hold(id: string, onEnd: () => void): () => void;
}

interface StoredIdentity {
  readonly identity: PageIdentity;
  until: number;
}

interface StoredSession extends StoredIdentity {
  readonly identity: FoundPage;
  readonly since: number;
  seen: number;
  /** Called when the session ends, once for each open socket. */
  readonly holders: Set<() => void>;
}

const ticketMs = 600_000;
const ownSessionMs = 12 * 3_600_000;
const appletSessionMs = 1_800_000;
const maxStored = 10_000;

/** Creates an empty store; tickets and sessions live in memory only and end with the server. */
export function createPageSessions(now: () => number = () => performance.now()): PageSessions {
  const tickets = new Map<string, StoredIdentity>();
  const sessions = new Map<string, StoredSession>();
  const find = <Stored extends StoredIdentity>(
    store: Map<string, Stored>,
    secret: string,
    origin: string,
  ) => {
    const found = store.get(secret);
    return found && found.until > now() && found.identity.origin === origin ? found : undefined;
  };
  const add = <Stored extends StoredIdentity>(store: Map<string, Stored>, stored: Stored) => {
    const secret = createSecret();
    makeRoom(store, now());
    store.set(secret, stored);
    return secret;
  };
  const toSession = (identity: PageIdentity): StoredSession => {
    const at = Date.now();
    const found = { ...identity, id: createId('page') };
    return { identity: found, until: now() + sessionMs(identity), since: at, seen: at, holders: new Set() };
  };
  const end = (cookie: string) => {
    const ended = sessions.get(cookie);
    sessions.delete(cookie);
    for (const onEnd of ended?.holders ?? []) onEnd();
    return ended?.identity;
  };
  const entryOf = (id: string) => [...sessions].find(([, { identity }]) => identity.id === id);

  return {
    issueTicket: (identity) => add(tickets, { identity, until: now() + ticketMs }),
    findTicket: (ticket, origin) => find(tickets, ticket, origin)?.identity,
    redeem(ticket, origin) {
      const found = find(tickets, ticket, origin);
      if (!found) return undefined;
      tickets.delete(ticket);
      return add(sessions, toSession(found.identity));
    },
    end: (cookie) => void end(cookie),
    find(cookie, origin) {
      const found = find(sessions, cookie, origin);
      if (found) renew(found, now());
      return found?.identity;
    },
    list: () => [...sessions.values()].filter((one) => isListed(one, now())).map(toSignedInPage),
    endById(id) {
      const [cookie = ''] = entryOf(id) ?? [];
      return end(cookie);
    },
    hold(id, onEnd) {
      const session = entryOf(id)?.[1];
      session?.holders.add(onEnd);
      if (session) session.until = Number.POSITIVE_INFINITY;
      return () => {
        session?.holders.delete(onEnd);
        if (session) renew(session, now());
      };
    },
  };
}

function sessionMs({ slug }: PageIdentity): number {
  return slug === undefined ? ownSessionMs : appletSessionMs;
}

function renew(session: StoredSession, now: number): void {
  session.seen = Date.now();
  if (session.holders.size === 0) session.until = now + sessionMs(session.identity);
}

function isListed({ identity, until }: StoredSession, now: number): boolean {
  return identity.slug === undefined && until > now;
}

function toSignedInPage({ identity, since, seen, holders }: StoredSession): SignedInPage {
  const { id, role = 'operator', name = '' } = identity;
  const toTime = (ms: number) => new Date(ms).toISOString();
  return { id, role, name, since: toTime(since), seen: toTime(seen), open: holders.size > 0 };
}

function makeRoom(store: Map<string, StoredIdentity>, now: number): void {
  if (store.size < maxStored) return;
  for (const [secret, { until }] of store) if (until <= now) store.delete(secret);
  const [oldest] = store.keys();
  if (store.size >= maxStored && oldest !== undefined) store.delete(oldest);
}
