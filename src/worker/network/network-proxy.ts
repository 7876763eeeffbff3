// The only way out of an empty network namespace:
// 1. `serve` gets a listening socket that was opened inside the namespace,
// 2. each request names its target, by CONNECT or by an absolute URL, and `resolveTarget` decides on it,
// 3. bytes are piped at the pace of the slower side; refused hosts are noted for the result of the command that asked.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type DeniedCommand, DeniedHosts } from './denied-hosts.ts';
import { forwardRequest } from './forward-request.ts';
import type { Target } from './host-rules.ts';
import { explain, refuse } from './refusals.ts';
import { type Resolution, type Resolve, resolveTarget } from './resolve-target.ts';
import { formatTarget, fromAuthority, fromUrl } from './target.ts';
import { openTunnel } from './tunnel.ts';

/** Options of a `NetworkProxy`. */
export interface NetworkProxyOptions {
  /** The entries of `network_allow`. */
  readonly allow: readonly string[];
  readonly resolve?: Resolve | undefined;
  readonly maxConnections?: number;
  readonly idleMs?: number;
  readonly headersMs?: number;
}

const defaultConnections = 256;
const defaultIdleMs = 300_000;
const defaultHeadersMs = 30_000;
const maxHeaderBytes = 32_768;
/** A proxy for the commands in one network namespace that connects to the hosts in `network_allow` only. */
export class NetworkProxy {
  readonly #options: NetworkProxyOptions;
  readonly #denied = new DeniedHosts();
  readonly #sockets = new Set<Duplex>();
  readonly #listeners = new Set<Server>();
  readonly #http = createServer({ maxHeaderSize: maxHeaderBytes, keepAlive: true });
  #isClosed = false;

  constructor(options: NetworkProxyOptions) {
    this.#options = options;
    this.#http.headersTimeout = options.headersMs ?? defaultHeadersMs;
    // An upload has no time limit; `idleMs` closes one that stalls.
    this.#http.requestTimeout = 0;
    this.#http.on('request', (incoming, reply) => {
      void this.#forward(incoming, reply).catch(() => reply.destroy());
    });
    this.#http.on('connect', ({ url = '' }, client, head) => {
      void this.#tunnel(url, client, head).catch(() => client.destroy());
    });
    this.#http.on('clientError', (_error, client) => refuse(client, 400, 'This is not an HTTP request.'));
  }

  serve(listener: Server): void {
    // A sandbox may send its listener just before it exits.
    if (this.#isClosed) return void listener.close();
    this.#listeners.add(listener);
    listener.maxConnections = this.#options.maxConnections ?? defaultConnections;
    listener.on('connection', (socket) => {
      socket.allowHalfOpen = true;
      this.#http.emit('connection', this.#track(socket));
    });
  }

  /** Collects the hosts that are refused to a command from now on. */
  watchDenied(command: DeniedCommand): () => readonly string[] {
    return this.#denied.watch(command);
  }

  close(): void {
    this.#isClosed = true;
    for (const listener of this.#listeners) listener.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#http.close();
  }

  async #tunnel(authority: string, client: Duplex, head: Buffer): Promise<void> {
    const target = fromAuthority(authority);
    if (!target) return refuse(client, 400, 'CONNECT needs a host and a port, such as example.com:443.');
    const found = await this.#resolve(target, (client as Socket).remotePort);
    if (!('addresses' in found)) return refuse(client, ...explain(target, found));
    this.#track(openTunnel(target, found.addresses, { client, head }));
  }

  async #forward(incoming: IncomingMessage, reply: ServerResponse): Promise<void> {
    const target = fromUrl(incoming.url ?? '');
    if (!target)
      return refuse(reply, 400, 'This is a proxy: request an absolute http:// URL, or use CONNECT.');
    const found = await this.#resolve(target, incoming.socket.remotePort);
    if (!('addresses' in found)) return refuse(reply, ...explain(target, found));
    const outgoing = forwardRequest(target, found.addresses, { incoming, reply });
    outgoing.once('socket', (socket) => this.#track(socket));
  }

  async #resolve(target: Target, clientPort: number | undefined): Promise<Resolution> {
    const { allow, resolve } = this.#options;
    const found = await resolveTarget(target, allow, resolve);
    // The connection's process is identified before the refusal is sent, while the process still waits for the reply.
    if ('refused' in found) await this.#denied.add(formatTarget(target), clientPort);
    return found;
  }

  #track<S extends Socket>(socket: S): S {
    this.#sockets.add(socket);
    socket.setTimeout(this.#options.idleMs ?? defaultIdleMs, () => socket.destroy());
    socket.on('error', () => socket.destroy()).once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}
