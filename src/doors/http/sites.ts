import { HttpProblem } from './problem.ts';

/** What stands behind a Host header: the server itself, or one of its applets on an origin of its own. */
export type Site =
  | { readonly kind: 'main'; readonly origin: string }
  | { readonly kind: 'applet'; readonly slug: string; readonly origin: string };

/** Which names are ours, and which pages may call. */
export interface Sites {
  /** The site that a Host header means; undefined for a name that is not ours. */
  find(host: string | null): Site | undefined;
  /** Throws 403 for a foreign Host or Origin; returns the origin of another page that may read the answer. */
  check(headers: Headers): string | undefined;
  /** The address of the server itself, or of an applet. */
  address(slug?: string): string;
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

  const find = (given: string | null): Site | undefined => {
    const found = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::(\d{1,5}))?$/.exec((given ?? '').toLowerCase());
    if (!found) return undefined;
    const [, name = '', at = String(usualPort)] = found;
    if (proxied.has(name)) return { kind: 'main', origin: `https://${found[0]}` };
    if (Number(at) !== port) return undefined;
    const origin = `${scheme}://${found[0]}`;
    if (ownNames.has(name)) return { kind: 'main', origin };
    const slug = appletHost.exec(name)?.[1];
    return slug === undefined ? undefined : { kind: 'applet', slug, origin };
  };

  return {
    find,
    check(headers) {
      const site = find(headers.get('host'));
      if (!site) throw new HttpProblem(403, 'This server does not answer to the Host of the request.');
      const origin = headers.get('origin');
      if (origin === null || origin === site.origin) return undefined;
      if (site.kind === 'main' && corsOrigins.includes(origin)) return origin;
      throw new HttpProblem(403, 'Pages of another origin may not call this server.');
    },
    address(slug) {
      const name = slug === undefined ? reachable(host) : `${slug}.localhost`;
      return `${scheme}://${name}${port === usualPort ? '' : `:${port}`}`;
    },
  };
}

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
