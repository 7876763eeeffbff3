import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { explain, refuse } from './refusals.ts';
import { formatTarget, type UrlTarget } from './target.ts';
import { toLookup } from './tunnel.ts';

/** Sends a client's request to its target, and the response back; returns the outgoing request. */
export function forwardRequest(
  target: UrlTarget,
  addresses: readonly string[],
  { incoming, reply }: { readonly incoming: IncomingMessage; readonly reply: ServerResponse },
): ClientRequest {
  const { host, port, path } = target;
  const outgoing = request({
    ...{ host, port, path, method: incoming.method ?? 'GET', agent: false, setHost: false },
    headers: [
      ...toEndHeaders(incoming.rawHeaders, 'host'),
      'Host',
      new URL(`http://${formatTarget(target)}`).host,
    ],
    lookup: toLookup(addresses),
  });
  outgoing.once('response', (response) => {
    reply.writeHead(response.statusCode ?? 502, toEndHeaders(response.rawHeaders));
    pipeline(response, reply, () => {});
  });
  outgoing.once('error', (error) => {
    if (reply.headersSent) reply.destroy();
    else refuse(reply, ...explain(target, { failed: error.message }));
  });
  reply.once('close', () => outgoing.destroy());
  // `pipeline` applies back-pressure in both directions, so that memory does not grow with the size of a transfer.
  pipeline(incoming, outgoing, () => {});
  return outgoing;
}

// Hop-by-hop headers (RFC 9110, section 7.6.1) are not forwarded.
const hopByHop = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/** Raw headers without `dropped`, hop-by-hop headers and those that `Connection` names. */
function toEndHeaders(raw: readonly string[], ...dropped: readonly string[]): string[] {
  const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(','))
    .map((name) => name.trim().toLowerCase());
  const removed = new Set([...hopByHop, ...dropped, ...named]);
  return pairs.filter(([name]) => !removed.has(name.toLowerCase())).flat();
}
