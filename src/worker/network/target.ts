import { type Target, toPlainHost } from './host-rules.ts';

/** A target with the path of a request. */
export interface UrlTarget extends Target {
  readonly path: string;
}

/** Parses the target of a CONNECT request; `undefined` unless it is exactly a host and a port. */
export function fromAuthority(authority: string): Target | undefined {
  const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i.exec(authority) ?? [];
  return toTarget(host, Number(port));
}

/** Parses the absolute URL of a request; `undefined` unless it is plain HTTP. */
export function fromUrl(text: string): UrlTarget | undefined {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  // Refuse http://listed@other/, which only looks like a request to `listed`.
  if (url.username !== '' || url.password !== '' || /^http:\/\/[^/?#]*@/i.test(text)) return undefined;
  const target = toTarget(url.hostname, url.port === '' ? 80 : Number(url.port));
  return target && { ...target, path: `${url.pathname}${url.search}` };
}

/** Formats a target as `host:port`. */
export function formatTarget({ host, port }: Target): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

// `URL` normalises every spelling of an address: 0x7f.1, 2130706433 and 127.1 all become 127.0.0.1.
function toTarget(host: string, port: number): Target | undefined {
  if (host === '' || port < 1 || port > 65_535 || !URL.canParse(`http://${host}/`)) return undefined;
  const plain = toPlainHost(new URL(`http://${host}/`).hostname);
  return plain === '' || plain.length > 253 ? undefined : { host: plain, port };
}
