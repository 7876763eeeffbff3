import type { IncomingMessage, ServerResponse } from 'node:http';
import { sendJson } from './send-json.ts';
import type { RequestCounts } from './tell-metrics.ts';

/** What a handler knows of its request. */
export interface Received {
  readonly incoming: IncomingMessage;
  /** Fires when the caller goes away before its answer. */
  readonly signal: AbortSignal;
  readonly address: string;
  /** Answers at once with JSON; returns what says that it is sent. */
  readonly send: (status: number, body: unknown, headers?: Readonly<Record<string, string>>) => Response;
}

/** Watches over a request that is being served; `corsOrigin` is the origin of another page that may read the answer. */
export function toReceived(
  requests: RequestCounts,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  corsOrigin?: string | undefined,
): Received {
  const { socket } = incoming;
  const gone = new AbortController();
  const leave = () => gone.abort();
  // The answer to a request behind another one has no socket yet, so that it would not learn that the caller has gone.
  if (outgoing.socket === null) socket.setMaxListeners(0).once('close', leave);
  outgoing.once('close', () => {
    socket.off('close', leave);
    if (!outgoing.writableFinished) leave();
  });
  return {
    incoming,
    signal: gone.signal,
    address: socket.remoteAddress ?? '',
    send(status, body, headers) {
      requests.add(status);
      return sendJson(outgoing, { status, body, headers, corsOrigin });
    },
  };
}
