import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { shuttingDown } from '../../../contract/failure.ts';
import { pause } from '../../../support/pause.ts';
import type { Authenticate } from '../authenticate.ts';
import type { HttpCaller } from '../callers.ts';
import { HttpProblem, refuse } from '../problem.ts';
import { toPairs } from '../raw-headers.ts';
import { maxBodyBytes } from '../read-body.ts';
import { declineUpgrade } from './decline-upgrade.ts';

/** Turns requests into sockets. */
export interface Upgrades {
  /** From now on also at this server. */
  attach(server: Server): void;
  /** Tells every client that the server ends, and waits a moment for them to have heard it. */
  close(): Promise<void>;
}

/** What is asked before a request becomes a socket. */
export interface UpgradeChecks {
  readonly authenticate: Authenticate;
  readonly isClosing: () => boolean;
}

const path = '/api/shell/stream';
const pingMs = 20_000;
const farewellMs = 1_000;

/** Turns requests for the stream into sockets, once it is known who asks; a socket that does not answer is dropped. */
export function acceptUpgrades(
  checks: UpgradeChecks,
  serve: (socket: WebSocket, caller: HttpCaller) => void,
  everyMs = pingMs,
): Upgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxBodyBytes,
    // intake.ts does.
    autoPong: false,
  });
  sockets.on('wsClientError', ({ message }, duplex) => refuse(duplex, new HttpProblem(400, `${message}.`)));
  const silent = new WeakSet<WebSocket>();
  const accept = (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    duplex.on('error', () => duplex.destroy());
    const caller = admit(request, checks);
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
      if (silent.has(socket) && !isUnread(socket)) socket.terminate();
      silent.add(socket);
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    }
  }, everyMs).unref();
  return {
    attach(server) {
      server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
        const asksForSocket = /\bwebsocket\b/i.test(request.headers.upgrade ?? '');
        if (asksForSocket) accept(request, duplex, head);
        else declineUpgrade(server, request, duplex, head);
      });
    },
    async close() {
      clearInterval(ping);
      for (const socket of sockets.clients) socket.close(1001, 'The server ends.');
      for (let waitedMs = 0; sockets.clients.size > 0 && waitedMs < farewellMs; waitedMs += 20)
        await pause(20);
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

// Its answer may have come already, behind input that its command does not take.
function isUnread({ isPaused, bufferedAmount }: WebSocket): boolean {
  return isPaused && bufferedAmount === 0;
}

function admit(
  request: IncomingMessage,
  { authenticate, isClosing }: UpgradeChecks,
): HttpCaller | HttpProblem {
  try {
    const caller = authenticate(new Headers(toPairs(request.rawHeaders)), request.socket.remoteAddress ?? '');
    if (isClosing()) return new HttpProblem(503, shuttingDown().message);
    const [asked] = (request.url ?? '').split('?');
    return asked === path
      ? caller
      : new HttpProblem(404, `There is no WebSocket at ${asked}; it is at ${path}.`);
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    return new HttpProblem(400, `The request is not valid; ask for a WebSocket at ${path}.`);
  }
}
