// The one way out of an empty network namespace:
// 1. a listening socket that was opened inside is handed to `serve`,
// 2. each request names its target, by CONNECT or by a whole URL, and the target is decided on,
// 3. bytes flow at the pace of the slower side; what was refused is remembered for the command's result.
import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { Server, Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import type { Target } from './host-rules.ts';
import { explain, refuse } from './refusals.ts';
import { type Resolve, resolveTarget } from './resolve-target.ts';
import { fromAuthority, fromUrl, toText } from './target.ts';
import { openTunnel, toLookup } from './tunnel.ts';

/** What a proxy is made of. */
export interface NetworkProxyOptions {
  readonly allow: readonly string[];
  readonly resolve?: Resolve | undefined;
  readonly maxConnections?: number;
  readonly idleMs?: number;
  readonly headersMs?: number;
}

/** A proxy for one command. */
export interface NetworkProxy {
  /** Answers whoever connects to this socket. */
  serve(listener: Server): void;
  /** The hosts that were asked for and refused, as `host:port`; after the first few dozen only that there were others. */
  deniedHosts(): readonly string[];
  /** Ends every connection. */
  close(): void;
}

const usualConnections = 256;
const usualIdleMs = 300_000;
const usualHeadersMs = 30_000;
const maxHeaderBytes = 32_768;
// A command that tries many names should not make the result, or us, grow without end.
const mostDenied = 32;

/** Makes a proxy that lets nothing through but what is listed. */
export function createNetworkProxy(options: NetworkProxyOptions): NetworkProxy {
  const { allow, resolve, idleMs = usualIdleMs } = options;
  const denied = new Set<string>();
  const sockets = new Set<Duplex>();
  const listeners = new Set<Server>();
  let closed = false;
  const track = <S extends Socket>(socket: S): S => {
    sockets.add(socket);
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
    return socket;
  };
  const decide = async (target: Target) => {
    const found = await resolveTarget(target, allow, resolve);
    if ('refused' in found) denied.add(denied.size < mostDenied ? toText(target) : 'and others');
    return found;
  };

  const tunnel = async (authority: string, client: Duplex, head: Buffer) => {
    const target = fromAuthority(authority);
    if (!target) return refuse(client, 400, 'CONNECT takes a host and a port, such as example.com:443.');
    const found = await decide(target);
    if (!('addresses' in found)) return refuse(client, ...explain(target, found));
    track(openTunnel(target, found.addresses, { client, head }));
  };

  const forward = async (asked: IncomingMessage, answer: ServerResponse) => {
    const target = fromUrl(asked.url ?? '');
    if (!target) return refuse(answer, 400, 'This is a proxy: ask for a whole http:// URL, or use CONNECT.');
    const found = await decide(target);
    if (!('addresses' in found)) return refuse(answer, ...explain(target, found));
    const { host, port, path } = target;
    const passedOn = request({
      ...{ host, port, path, method: asked.method ?? 'GET', agent: false, setHost: false },
      headers: [...toEndHeaders(asked.rawHeaders, 'host'), 'Host', new URL(`http://${toText(target)}`).host],
      lookup: toLookup(found.addresses),
    });
    carry(asked, passedOn, answer, (error) => explain(target, { failed: error.message }));
    passedOn.once('socket', track);
  };

  const http = createServer({ maxHeaderSize: maxHeaderBytes, keepAlive: true });
  http.headersTimeout = options.headersMs ?? usualHeadersMs;
  // A long upload is no attack; one that stands still is ended by the idle time.
  http.requestTimeout = 0;
  http.on('request', (asked, answer) => void forward(asked, answer).catch(() => answer.destroy()));
  http.on('connect', (asked, client, head) => {
    void tunnel(asked.url ?? '', client, head).catch(() => client.destroy());
  });
  http.on('clientError', (_error, client) => refuse(client, 400, 'This is not an HTTP request.'));

  return {
    serve(listener) {
      // A sandbox that has just ended may hand out its socket all the same.
      if (closed) return void listener.close();
      listeners.add(listener);
      listener.maxConnections = options.maxConnections ?? usualConnections;
      listener.on('connection', (socket) => {
        socket.allowHalfOpen = true;
        http.emit('connection', track(socket));
      });
    },
    deniedHosts: () => [...denied],
    close() {
      closed = true;
      for (const listener of listeners) listener.close();
      for (const socket of sockets) socket.destroy();
      http.close();
    },
  };
}

// Both directions are streams that wait for one another, so that memory does not grow with what is carried.
function carry(
  asked: IncomingMessage,
  passedOn: ClientRequest,
  answer: ServerResponse,
  toRefusal: (error: Error) => readonly [number, string],
): void {
  passedOn.once('response', (response) => {
    answer.writeHead(response.statusCode ?? 502, toEndHeaders(response.rawHeaders));
    pipeline(response, answer, () => {});
  });
  passedOn.once('error', (error) => {
    if (answer.headersSent) answer.destroy();
    else refuse(answer, ...toRefusal(error));
  });
  answer.once('close', () => passedOn.destroy());
  pipeline(asked, passedOn, () => {});
}

// What belongs to one connection is not passed on to the next.
const connectionHeaders = new Set(
  'connection keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

function toEndHeaders(raw: readonly string[], ...less: readonly string[]): string[] {
  const pairs = raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ''] as const] : []));
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(','));
  const dropped = new Set([...less, ...named.map((name) => name.trim().toLowerCase())]);
  return pairs
    .filter(([name]) => !connectionHeaders.has(name.toLowerCase()) && !dropped.has(name.toLowerCase()))
    .flat();
}
