import type { IncomingMessage } from 'node:http';
import { toPairs } from './raw-headers.ts';

/** Rewrites an absolute-form target (`GET http://host/path`), whose host overrides the Host header (RFC 9112, 3.2.2). */
export function toOriginForm(request: IncomingMessage): void {
  if (request.url?.startsWith('/')) return;
  const [, host, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  const others = toPairs(request.rawHeaders).filter(([name]) => name.toLowerCase() !== 'host');
  request.url = path.startsWith('/') ? path : `/${path}`;
  request.headers.host = host;
  request.rawHeaders = [...others.flat(), 'Host', host];
}
