import { HttpProblem } from '../requests/problem.ts';
import type { RequestHeaders } from '../requests/raw-headers.ts';

/** The site that a Host header names: the server itself, or an applet on its own origin. */
export type Site = {
  readonly origin: string;
  /** Contains the port, since browsers send cookies to every port of a host. */
  readonly cookieName: string;
} & ({ readonly kind: 'main' } | { readonly kind: 'applet'; readonly slug: string });

/** The names of this server, and the origins that may call it. */
export interface Sites {
  /** The site that a Host header names; undefined if the name is not ours. */
  find(host: string | null): Site | undefined;
  /** Throws 403 for a foreign Host or Origin; returns the Origin if it is one of `cors_origins`. */
  check(headers: RequestHeaders): string | undefined;
  /** The address of the server itself, or of an applet. */
  address(slug?: string): string;
  /** Assigns a port to an applet, for machines that do not resolve names below localhost; returns its address. */
  assignPort(slug: string, port: number): string;
}

/** How the server is reached. */
export interface SitesOptions {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** Additional names, accepted with any port, because a proxy may listen on another one. */
  readonly moreHosts: readonly string[];
  readonly corsOrigins: readonly string[];
}

const appletHost = /^([a-z0-9](?:[a-z0-9-]*[a-z0-9])?)\.localhost$/;

/** Creates the sites of one server. */
export function createSites({ secure, host, port, moreHosts, corsOrigins }: SitesOptions): Sites {
  const scheme = secure ? 'https' : 'http';
  const ownNames = new Set(['localhost', '127.0.0.1', '[::1]', toHostName(host)]);
  const proxied = new Set(moreHosts.map((name) => name.toLowerCase()));
  const defaultPort = secure ? 443 : 80;
  const appletPorts = new Map<number, string>();
  const toAddress = (name: string, at: number) => `${scheme}://${name}${at === defaultPort ? '' : `:${at}`}`;

  const find = (header: string | null): Site | undefined => {
    const found = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?$/.exec((header ?? '').toLowerCase());
    if (!found) return undefined;
    const [own, name = '', at = String(defaultPort)] = found;
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
    assignPort(slug, at) {
      appletPorts.set(at, slug);
      return toAddress(reachable(host), at);
    },
  };
}

function foreignHost(host: string | null): HttpProblem {
  const name = JSON.stringify((host ?? '').slice(0, maxNameChars));
  const message = `This server does not answer to the Host ${name}. Call it by its own address, or add the name to http_hosts.`;
  return new HttpProblem(403, message);
}

function foreignOrigin(origin: string): HttpProblem {
  const name = JSON.stringify(origin.slice(0, maxNameChars));
  const message = `Pages of another origin, here ${name}, may not call this server. Add it to cors_origins if they should.`;
  return new HttpProblem(403, message);
}

const maxNameChars = 100;

function toHostName(host: string): string {
  return host.includes(':') ? `[${host}]` : host.toLowerCase();
}

// A browser cannot open a wildcard address such as 0.0.0.0.
function reachable(host: string): string {
  return host === '0.0.0.0' || host === '::' ? 'localhost' : toHostName(host);
}
