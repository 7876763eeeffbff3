import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { toPairs } from '../requests/raw-headers.ts';

const upgradeHeaders = new Set(['connection', 'upgrade', 'http2-settings']);

/**
 * Serves an upgrade request as plain HTTP/1.1: many clients offer `h2c` with their first request and accept a refusal.
 * Node has detached its parser from the socket by then, so the request is put back without its upgrade headers and the
 * socket is handed to the server as a new connection.
 */
export function declineUpgrade(
  server: Server,
  { method, url, rawHeaders }: IncomingMessage,
  duplex: Duplex,
  head: Buffer,
): void {
  const lines = toPairs(rawHeaders)
    .filter(([name]) => !upgradeHeaders.has(name.toLowerCase()))
    .map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`${method} ${url} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1');
  duplex.unshift(Buffer.concat([request, head]));
  server.emit(duplex instanceof TLSSocket ? 'secureConnection' : 'connection', duplex);
}
