import { ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Target } from './host-rules.ts';
import type { Resolution } from './resolve-target.ts';
import { formatTarget } from './target.ts';

type NotReached = Exclude<Resolution, { readonly addresses: readonly string[] }>;

/** The HTTP status (403 or 502) and message for a target that `resolveTarget` refused, or that is unreachable. */
export function explain(target: Target, why: NotReached): readonly [status: number, reason: string] {
  const wanted = formatTarget(target);
  if ('failed' in why) return [502, `${wanted} cannot be reached: ${why.failed}.`];
  if (why.refused === 'not_listed') {
    return [403, `${wanted} is not allowed: nacre's setting network_allow does not list it.`];
  }
  return [
    403,
    `${wanted} is not allowed: the name resolves to a private address, which nacre's setting network_allow does not list.`,
  ];
}

/** Replies with a status and one line of text, and closes the connection. */
export function refuse(client: Duplex | ServerResponse, status: number, reason: string): void {
  const text = `nacre: ${reason}\n`;
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': Buffer.byteLength(text) };
  if (client instanceof ServerResponse) {
    client.writeHead(status, { ...headers, Connection: 'close' }).end(text);
    return;
  }
  if (!client.writable) return void client.destroy();
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  client.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}Connection: close\r\n\r\n${text}`,
  );
}
