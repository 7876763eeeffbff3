import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { type Exchange, openExchange } from '../requests/raw-http.ts';
import { sendWebResponse, toWebRequest } from './web-messages.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

async function serve(respond: (exchange: Exchange) => Response | Promise<Response>): Promise<number> {
  server = createServer(async (incoming, outgoing) =>
    sendWebResponse(outgoing, await respond(openExchange(incoming, outgoing)), undefined),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

test('a request keeps its method, headers and body, and the response its status, headers and body', async () => {
  const port = await serve(async (exchange) => {
    const web = toWebRequest(exchange, 'http://127.0.0.1/mcp');
    const body = { method: web.method, sent: web.headers.get('x-sent'), text: await web.text() };
    return Response.json(body, { status: 202, headers: { 'X-Own': 'kept' } });
  });
  const reply = await fetch(`http://127.0.0.1:${port}`, {
    method: 'POST',
    headers: { 'X-Sent': 'yes' },
    body: 'é'.repeat(100_000),
  });
  expect([reply.status, reply.headers.get('x-own')]).toEqual([202, 'kept']);
  expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
  expect(await reply.json()).toEqual({ method: 'POST', sent: 'yes', text: 'é'.repeat(100_000) });
});

test('a response without a body ends', async () => {
  const port = await serve(() => new Response(null, { status: 202 }));
  const reply = await fetch(`http://127.0.0.1:${port}`);
  expect([reply.status, await reply.text()]).toEqual([202, '']);
});

test('an event stream is sent as it comes, and cancelled when the caller disconnects', async () => {
  let cancelled = false;
  let exchange: Exchange | undefined;
  const port = await serve((opened) => {
    exchange = opened;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from('data: one\n\n')),
      cancel: () => {
        cancelled = true;
      },
    });
    return new Response(body, { headers: { 'Content-Type': 'text/event-stream' } });
  });
  const sent = request({ host: '127.0.0.1', port }).end();
  const [incoming] = (await once(sent, 'response')) as [IncomingMessage];
  expect(String((await once(incoming, 'data'))[0])).toBe('data: one\n\n');
  sent.on('error', () => {}).destroy();
  await expect.poll(() => [cancelled, exchange?.signal.aborted]).toEqual([true, true]);
});
