import { type Target, toPlainHost } from './host-rules.ts';

/** Where a CONNECT request leads; undefined for what is not exactly a host and a port. */
export function fromAuthority(authority: string): Target | undefined {
  const [, host = '', port = ''] = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})$/i.exec(authority) ?? [];
  return toTarget(host, Number(port));
}

/** Where a request with a whole URL leads, and what it asks for there; undefined for all that is not plain HTTP. */
export function fromUrl(text: string): (Target & { readonly path: string }) | undefined {
  if (!/^http:\/\//i.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  // Whoever writes http://listed@other/ hopes that somebody reads only the beginning.
  if (url.username !== '' || url.password !== '' || /^http:\/\/[^/?#]*@/i.test(text)) return undefined;
  const target = toTarget(url.hostname, url.port === '' ? 80 : Number(url.port));
  return target && { ...target, path: `${url.pathname}${url.search}` };
}

/** A target as people write it. */
export function toText({ host, port }: Target): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

// The parser of URLs knows every spelling of an address: 0x7f.1, 2130706433 and 127.1 are all 127.0.0.1.
function toTarget(host: string, port: number): Target | undefined {
  if (host === '' || port < 1 || port > 65_535 || !URL.canParse(`http://${host}/`)) return undefined;
  const plain = toPlainHost(new URL(`http://${host}/`).hostname);
  return plain === '' || plain.length > 253 ? undefined : { host: plain, port };
}
