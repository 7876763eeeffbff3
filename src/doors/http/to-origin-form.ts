import type { IncomingMessage } from 'node:http';
import { toPairs } from './raw-headers.ts';

/** A target can name its host by itself, as for a proxy: then that one is meant, whatever the Host header says. */
export function toOriginForm(request: IncomingMessage): void {
  if (request.url?.startsWith('/')) return;
  const [, host, path = ''] = /^https?:\/\/([^/?#]*)(.*)$/is.exec(request.url ?? '') ?? [];
  if (host === undefined) return;
  const others = toPairs(request.rawHeaders).filter(([name]) => name.toLowerCase() !== 'host');
  request.url = path.startsWith('/') ? path : `/${path}`;
  request.headers.host = host;
  request.rawHeaders = [...others.flat(), 'Host', host];
}
