// The MCP SDK handles the web's Request and Response; these two functions convert them from and to Node's own.
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { toHeaders } from '../requests/headers.ts';
import { toPairs } from '../requests/raw-headers.ts';
import type { Exchange } from '../requests/raw-http.ts';

/** The request of an exchange as a web Request, with its body as a stream. */
export function toWebRequest({ incoming, method, signal }: Exchange, url: string): Request {
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return new Request(url, {
    method,
    headers: toPairs(incoming.rawHeaders),
    signal,
    ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' }),
  });
}

/** Writes a web Response; an event stream is sent as it arrives, and cancelled when the caller disconnects. */
export async function sendWebResponse(
  outgoing: ServerResponse,
  { status, headers, body }: Response,
  corsOrigin: string | undefined,
): Promise<void> {
  outgoing.writeHead(status, toHeaders(Object.fromEntries(headers), corsOrigin));
  if (body === null) return void outgoing.end();
  outgoing.flushHeaders();
  // `pipeline` rejects when the caller disconnects, which is the usual end of an event stream.
  await pipeline(Readable.fromWeb(body as ReadableStream<Uint8Array>), outgoing).catch(() => {});
}
