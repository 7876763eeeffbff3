// A plain POST /api/shell goes by Node's own request and response alone: somebody waits for each, and often for the next.
// Whatever is odd about a request takes the way through routes.ts, which has an answer to everything.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Admit, AppParts } from './create-app.ts';
import { toFailure } from './problem.ts';
import { type RequestHeaders, readHeaders } from './raw-headers.ts';
import { toReceived } from './received.ts';
import { serveShell } from './serve-shell.ts';

/** Answers a request that may go the short way; undefined for all others. */
export type ShortWay = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void> | undefined;

/** Makes the short way. */
export function createShortWay(parts: AppParts, admit: Admit): ShortWay {
  const serve = async (headers: RequestHeaders, incoming: IncomingMessage, outgoing: ServerResponse) => {
    const received = toReceived(parts.requests, incoming, outgoing);
    try {
      await serveShell(parts, admit(headers, received), received);
    } catch (error) {
      const { status, body, headers } = toFailure(error, parts.log);
      received.send(status, body, headers);
      giveUp(incoming);
    }
  };
  return (incoming, outgoing) => {
    if (incoming.url !== '/api/shell' || incoming.method !== 'POST') return undefined;
    const headers = readHeaders(incoming.rawHeaders);
    if (headers.has('origin') || !parts.sites.find(headers.get('host'))) return undefined;
    return serve(headers, incoming, outgoing);
  };
}

const restMs = 500;

// Node reads on so that the next request can come, but what nobody wanted must not come forever.
function giveUp(incoming: IncomingMessage): void {
  if (incoming.complete) return;
  const timer = setTimeout(() => incoming.socket.destroySoon(), restMs);
  incoming.once('close', () => clearTimeout(timer));
}
