import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { toPairs } from '../raw-headers.ts';

const aboutUpgrade = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Serves a request as if it had not asked for another protocol: many clients offer HTTP/2 with their first request and go
 * on without it. Node has taken the connection out of HTTP by then, so that it begins anew.
 */
export function declineUpgrade(
  server: Server,
  { method, url, rawHeaders }: IncomingMessage,
  duplex: Duplex,
  head: Buffer,
): void {
  const lines = toPairs(rawHeaders)
    .filter(([name]) => !aboutUpgrade.has(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}\r\n`);
  const again = Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  duplex.unshift(Buffer.concat([again, head]));
  server.emit(duplex instanceof TLSSocket ? 'secureConnection' : 'connection', duplex);
}
