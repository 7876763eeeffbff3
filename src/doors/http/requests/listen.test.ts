import type { Server } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { sendBytes } from '../../../../tests/support/raw-http.ts';
import { createHttpServer, listen, serveRequests } from './listen.ts';

let server: Server;
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const settings = {
  httpHost: '127.0.0.1',
  httpPort: 0,
  tlsCert: undefined,
  tlsKey: undefined,
  insecure: false,
};
const timeouts = { requestTimeout: 200, headersTimeout: 100, connectionsCheckingInterval: 50 };

test.each([
  ['headers', 'GET / HTTP/1.1\r\nHost: a'],
  ['body', 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf'],
])('H2, H10: a request whose %s never arrive completely gets 408 with a sentence', async (_, begun) => {
  ({ server } = createHttpServer(settings, '/', timeouts));
  serveRequests(server, () => {});
  const port = await listen(server, settings);
  const { status, text } = await sendBytes(port, begun, { idleMs: 10_000 });
  expect(status).toBe(408);
  expect(JSON.parse(text.slice(text.indexOf('{'))).error).toMatch(/took too long to arrive completely/);
});
