import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import type { HttpSettings } from '../settings.ts';
import { isLoopback } from './sites.ts';

/** How much time a caller has to send a whole request. */
const requestTimeoutMs = 60_000;

/** A server that does not listen yet. */
export function createHttpServer(
  settings: HttpSettings,
  cwd: string,
): { readonly server: Server; readonly secure: boolean } {
  const { tlsCert, tlsKey, httpHost, insecure } = settings;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw invalid('tls_cert and tls_key belong together, but only one of them is set.', 'Set both.');
  }
  const secure = tlsCert !== undefined && tlsKey !== undefined;
  if (!secure && !insecure && !isLoopback(httpHost)) {
    throw invalid(
      `Others can reach ${httpHost}, and without TLS whoever listens in can take the token.`,
      'Set tls_cert and tls_key, serve on 127.0.0.1, or say --insecure if something else encrypts.',
    );
  }
  const options = { requestTimeout: requestTimeoutMs, keepAliveTimeout: 30_000, maxHeaderSize: 16_384 };
  const read = (path: string) => readFile(resolve(cwd, path));
  const server = secure
    ? createSecureServer({ ...options, cert: read(tlsCert), key: read(tlsKey) })
    : createServer(options);
  return { server, secure };
}

/** Begins to listen; returns the port. */
export function listen(server: Server, { httpHost, httpPort }: HttpSettings): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => fail(cannotListen(httpHost, httpPort, error)));
    server.listen(httpPort, httpHost, () => done((server.address() as AddressInfo).port));
  });
}

/** Answers requests from now on; what is no HTTP at all gets a short answer, too. */
export function answerRequests(server: Server, listener: RequestListener): void {
  server.on('request', listener);
  server.on('clientError', (_error, socket) => {
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n');
    else socket.destroy();
  });
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw invalid(
      `${path} cannot be read: ${error instanceof Error ? error.message : error}.`,
      'Correct the path.',
    );
  }
}

function cannotListen(host: string, port: number, { code, message }: NodeJS.ErrnoException): NacreError {
  const taken = code === 'EADDRINUSE';
  return invalid(
    taken
      ? `Port ${port} of ${host} is taken already.`
      : `Cannot listen on ${host} port ${port}: ${message}.`,
    taken ? 'Choose another with --port; 0 takes a free one.' : 'Choose another with --host and --port.',
  );
}

function invalid(message: string, hint: string): NacreError {
  return new NacreError('settings_invalid', message, { hint });
}
