import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { Authenticate } from '../authenticate.ts';
import type { HttpCaller } from '../callers.ts';
import { HttpProblem } from '../problem.ts';
import { maxBodyBytes } from '../read-body.ts';

/** Turns requests into sockets. */
export interface Upgrades {
  /** From now on also at this server. */
  attach(server: Server): void;
  /** Tells every client that the server ends. */
  close(): void;
}

const path = '/api/shell/stream';
const pingMs = 20_000;

/** Turns requests for the stream into sockets, once it is known who asks; a socket that does not answer is dropped. */
export function acceptUpgrades(
  authenticate: Authenticate,
  serve: (socket: WebSocket, caller: HttpCaller) => void,
  everyMs = pingMs,
): Upgrades {
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxBodyBytes });
  const silent = new WeakSet<WebSocket>();
  const accept = (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    duplex.on('error', () => duplex.destroy());
    const caller = admit(request, authenticate);
    if (caller instanceof HttpProblem) return refuse(duplex, caller);
    sockets.handleUpgrade(request, duplex, head, (socket) => {
      socket.on('pong', () => silent.delete(socket));
      // A frame that breaks the protocol closes the socket; there is nobody to tell.
      socket.on('error', () => {});
      serve(socket, caller);
    });
  };
  const ping = setInterval(() => {
    for (const socket of sockets.clients) {
      if (silent.has(socket)) socket.terminate();
      silent.add(socket);
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    }
  }, everyMs).unref();
  return {
    attach: (server) => void server.on('upgrade', accept),
    close() {
      clearInterval(ping);
      for (const socket of sockets.clients) socket.close(1001, 'The server ends.');
    },
  };
}

function admit(request: IncomingMessage, authenticate: Authenticate): HttpCaller | HttpProblem {
  try {
    const caller = authenticate(toHeaders(request), request.socket.remoteAddress ?? '');
    const [asked] = (request.url ?? '').split('?');
    return asked === path ? caller : new HttpProblem(404, `WebSockets are at ${path}.`);
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    return new HttpProblem(400, 'The request is not valid.');
  }
}

function toHeaders({ headers }: IncomingMessage): Headers {
  const pairs = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || name.startsWith(':') ? [] : [[name, String(value)] as [string, string]],
  );
  return new Headers(pairs);
}

function refuse(duplex: Duplex, { status, message, headers }: HttpProblem): void {
  const body = JSON.stringify({ error: message });
  const lines = Object.entries({
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  duplex.end(`HTTP/1.1 ${status} Refused\r\n${lines.join('')}\r\n${body}`);
}
