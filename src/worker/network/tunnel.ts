import { connect, isIP, type LookupFunction, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Target } from './host-rules.ts';
import { explain, refuse } from './refusals.ts';

const connectMs = 30_000;

/** Connects a client that asked for it with one of a target's addresses; what it has sent already goes first. */
export function openTunnel(
  target: Target,
  addresses: readonly string[],
  { client, head }: { readonly client: Duplex; readonly head: Buffer },
): Socket {
  const server = connect({ ...target, lookup: toLookup(addresses), allowHalfOpen: true });
  const patience = setTimeout(() => server.destroy(new Error('it does not answer')), connectMs);
  const fail = (error: Error) => refuse(client, ...explain(target, { failed: error.message }));
  const giveUp = () => server.destroy();
  client.once('close', giveUp);
  server.once('error', fail);
  server.once('close', () => clearTimeout(patience));
  server.once('connect', () => {
    clearTimeout(patience);
    client.off('close', giveUp);
    server.off('error', fail);
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    server.write(head);
    follow(client, server);
    follow(server, client);
  });
  return server;
}

/** Lets a connection go to addresses that were decided on; the name is not looked up again. */
export function toLookup(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_host, options, done) => {
    const [first] = all;
    if (options.all === true) done(null, all);
    else done(null, first?.address ?? '', first?.family);
  };
}

// A side that has said all it has to say may still listen; one that breaks off takes the other with it.
function follow(from: Duplex, to: Duplex): void {
  from.once('close', () => (from.readableEnded ? to.end() : to.destroy()));
  from.pipe(to);
}
