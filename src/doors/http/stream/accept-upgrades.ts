import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { shuttingDown } from '../../../contract/failure.ts';
import { sleep } from '../../../support/timing.ts';
import type { Authenticate } from '../access/authenticate.ts';
import { type HttpCaller, refuseViewer } from '../access/callers.ts';
import { HttpProblem, refuseConnection } from '../requests/problem.ts';
import { readHeaders } from '../requests/raw-headers.ts';
import { maxBodyBytes } from '../requests/read-body.ts';
import { declineUpgrade } from './decline-upgrade.ts';

/** Turns upgrade requests into sockets. */
export interface Upgrades {
  /** Accepts upgrades on one more server. */
  attach(server: Server): void;
  /** Closes every socket with code 1001 and waits briefly for the close frames of the clients. */
  close(): Promise<void>;
}

/** The checks before an upgrade. */
export interface UpgradeDeps {
  readonly authenticate: Authenticate;
  readonly isClosing: () => boolean;
}

/** The WebSocket for commands. */
export const streamPath = '/api/shell/stream';
/** The WebSocket for the console's pages, of which viewers may open one as well. */
export const consolePath = '/api/console';
const defaultPingMs = 20_000;
const closeMs = 1_000;

/** Upgrades authenticated requests to the paths of `serve`, and terminates sockets that do not reply to pings. */
export function acceptUpgrades(
  deps: UpgradeDeps,
  serve: Readonly<Record<string, (socket: WebSocket, caller: HttpCaller) => void>>,
  pingMs = defaultPingMs,
): Upgrades {
  const sockets = new WebSocketServer({
    noServer: true,
    perMessageDeflate: false,
    maxPayload: maxBodyBytes,
    // `createIntake` replies to pings.
    autoPong: false,
  });
  sockets.on('wsClientError', ({ message }, duplex) =>
    refuseConnection(duplex, new HttpProblem(400, `${message}.`)),
  );
  const unanswered = new WeakSet<WebSocket>();
  const accept = (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
    duplex.on('error', () => duplex.destroy());
    const admitted = admit(request, deps, Object.keys(serve));
    if (admitted instanceof HttpProblem) return refuseConnection(duplex, admitted);
    const { caller, path } = admitted;
    sockets.handleUpgrade(request, duplex, head, (socket) => {
      socket.on('pong', () => unanswered.delete(socket));
      // ws closes the socket after a protocol error; without a listener the event would be thrown.
      socket.on('error', () => {});
      serve[path]?.(socket, caller);
    });
  };
  const pings = setInterval(() => {
    for (const socket of sockets.clients) {
      if (unanswered.has(socket) && !hasUnreadInput(socket)) socket.terminate();
      unanswered.add(socket);
      if (socket.readyState === WebSocket.OPEN) socket.ping();
    }
  }, pingMs).unref();
  return {
    attach(server) {
      server.on('upgrade', (request: IncomingMessage, duplex: Duplex, head: Buffer) => {
        const isWebSocket = /\bwebsocket\b/i.test(request.headers.upgrade ?? '');
        if (isWebSocket) accept(request, duplex, head);
        else declineUpgrade(server, request, duplex, head);
      });
    },
    async close() {
      clearInterval(pings);
      for (const socket of sockets.clients) socket.close(1001, 'The server is shutting down.');
      for (let waitedMs = 0; sockets.clients.size > 0 && waitedMs < closeMs; waitedMs += 20) await sleep(20);
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

// The pong may be waiting behind input that the command does not read.
function hasUnreadInput({ isPaused, bufferedAmount }: WebSocket): boolean {
  return isPaused && bufferedAmount === 0;
}

function admit(
  request: IncomingMessage,
  { authenticate, isClosing }: UpgradeDeps,
  paths: readonly string[],
): { readonly caller: HttpCaller; readonly path: string } | HttpProblem {
  const all = paths.join(' and ');
  try {
    const caller = authenticate(
      readHeaders(request.rawHeaders),
      request.socket.remoteAddress ?? '',
      request.socket,
    );
    if (isClosing()) return new HttpProblem(503, shuttingDown().message);
    const [path = ''] = (request.url ?? '').split('?');
    if (path !== consolePath) refuseViewer(caller);
    return paths.includes(path)
      ? { caller, path }
      : new HttpProblem(404, `There is no WebSocket at ${path}; they are at ${all}.`);
  } catch (error) {
    if (error instanceof HttpProblem) return error;
    return new HttpProblem(400, `The request is not valid; open a WebSocket at ${all}.`);
  }
}
