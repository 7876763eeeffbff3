import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { plainHeaders } from './headers.ts';

interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly corsOrigin: string | undefined;
}

/**
 * Writes an answer straight to Node's own response, headers and body at once: one of the web's kind, with its body as a
 * stream, would cost as much as all the rest of a request. What it returns says to whoever waits for one that it is sent.
 */
export function sendJson(
  outgoing: ServerResponse,
  { status, body, headers, corsOrigin }: JsonAnswer,
): Response {
  const text = JSON.stringify(body);
  outgoing.writeHead(status, {
    ...plainHeaders(corsOrigin),
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(text),
  });
  outgoing.end(text);
  return RESPONSE_ALREADY_SENT;
}
