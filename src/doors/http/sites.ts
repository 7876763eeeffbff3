import { HttpProblem } from './problem.ts';
import type { RequestHeaders } from './raw-headers.ts';

/** What stands behind a Host header: the server itself, or one of its applets on an origin of its own. */
export type Site = {
  readonly origin: string;
  /** Cookies ignore ports, so that the name has to tell sites of one host apart. */
  readonly cookieName: string;
} & ({ readonly kind: 'main' } | { readonly kind: 'applet'; readonly slug: string });

/** Which names are ours, and which pages may call. */
export interface Sites {
  /** The site that a Host header means; undefined for a name that is not ours. */
  find(host: string | null): Site | undefined;
  /** Throws 403 for a foreign Host or Origin; returns the origin of another page that may read the answer. */
  check(headers: RequestHeaders): string | undefined;
  /** The address of the server itself, or of an applet. */
  address(slug?: string): string;
  /** Gives a port to an applet, where names below localhost do not resolve; returns the address. */
  giveTo(slug: string, port: number): string;
}

/** How the server is reached. */
export interface SitesOptions {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** Names beside those of this machine, at whatever port a proxy has. */
  readonly moreHosts: readonly string[];
  readonly corsOrigins: readonly string[];
}

const appletHost = /^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)\.localhost$/;

/** Knows the sites of one server. */
export function createSites({ secure, host, port, moreHosts, corsOrigins }: SitesOptions): Sites {
  const scheme = secure ? 'https' : 'http';
  const ownNames = new Set(['localhost', '127.0.0.1', '[::1]', toHostName(host)]);
  const proxied = new Set(moreHosts.map((name) => name.toLowerCase()));
  const usualPort = secure ? 443 : 80;
  const appletPorts = new Map<number, string>();
  const toAddress = (name: string, at: number) => `${scheme}://${name}${at === usualPort ? '' : `:${at}`}`;

  const find = (given: string | null): Site | undefined => {
    const found = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?$/.exec((given ?? '').toLowerCase());
    if (!found) return undefined;
    const [own, name = '', at = String(usualPort)] = found;
    const cookieName = `nacre_${at}`;
    if (proxied.has(name)) return { kind: 'main', origin: `https://${own}`, cookieName };
    const site = { origin: `${scheme}://${own}`, cookieName };
    const slug = ownNames.has(name) ? appletPorts.get(Number(at)) : appletHost.exec(name)?.[1];
    if (Number(at) !== port && !appletPorts.has(Number(at))) return undefined;
    if (slug !== undefined) return { kind: 'applet', slug, ...site };
    return ownNames.has(name) ? { kind: 'main', ...site } : undefined;
  };

  return {
    find,
    check(headers) {
      const site = find(headers.get('host'));
      if (!site) throw foreignHost(headers.get('host'));
      const origin = headers.get('origin');
      if (origin === null || origin === site.origin) return undefined;
      if (site.kind === 'main' && corsOrigins.includes(origin)) return origin;
      throw foreignOrigin(origin);
    },
    address: (slug) => toAddress(slug === undefined ? reachable(host) : `${slug}.localhost`, port),
    giveTo(slug, at) {
      appletPorts.set(at, slug);
      return toAddress(reachable(host), at);
    },
  };
}

function foreignHost(host: string | null): HttpProblem {
  const name = JSON.stringify((host ?? '').slice(0, longestName));
  const message = `This server does not answer to the Host ${name}. Call it by its own address, or add the name to http_hosts.`;
  return new HttpProblem(403, message);
}

function foreignOrigin(origin: string): HttpProblem {
  const name = JSON.stringify(origin.slice(0, longestName));
  const message = `Pages of another origin, here ${name}, may not call this server. Add it to cors_origins if they should.`;
  return new HttpProblem(403, message);
}

const longestName = 100;

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
}

function toHostName(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase();
}

// An address that means all of them is none that a browser could go to.
function reachable(host: string): string {
  return host === '0.0.0.0' || host === '::' ? 'localhost' : toHostName(host);
}
