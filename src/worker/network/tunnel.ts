import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Target } from './host-rules.ts';
import { explain, refuse } from './refusals.ts';

const connectMs = 30_000;

/** Connects a client to one of a target's addresses; `head` is what it sent after CONNECT. */
export function openTunnel(
  target: Target,
  addresses: readonly string[],
  { client, head }: { readonly client: Duplex; readonly head: Buffer },
): Socket {
  const server = connect({ ...target, lookup: toLookup(addresses), allowHalfOpen: true });
  const timer = setTimeout(() => server.destroy(new Error('the connection timed out')), connectMs);
  const fail = (error: Error) => refuse(client, ...explain(target, { failed: error.message }));
  const abort = () => server.destroy();
  client.once('close', abort);
  server.once('error', fail);
  server.once('close', () => clearTimeout(timer));
  server.once('connect', () => {
    clearTimeout(timer);
    client.off('close', abort);
    server.off('error', fail);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    server.write(head);
    pipeAll(client, server);
    pipeAll(server, client);
  });
  return server;
}

/** A `lookup` function that returns the given addresses instead of resolving the name again. */
export function toLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, callback) => {
    const [first] = all;
    if (options.all === true) callback(null, all);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/** Pipes one side to the other: after a regular end the other direction may continue; an aborted side destroys the other. */
export function pipeAll(from: Duplex, to: Duplex): void {
  from.once('close', () => (from.readableEnded ? to.end() : to.destroy()));
  from.pipe(to);
}
