import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { NacreError } from '../../../contract/failure.ts';
import type { HttpSettings } from '../../settings.ts';
import { isLoopback } from './is-loopback.ts';
import { HttpProblem, refuseConnection } from './problem.ts';
import { toOriginForm } from './to-origin-form.ts';

/** How long a client may take to send a request, and how often Node checks that. */
export interface RequestTimeouts {
  readonly requestTimeout: number;
  readonly headersTimeout: number;
  readonly connectionsCheckingInterval: number;
}

const defaultTimeouts: RequestTimeouts = {
  requestTimeout: 60_000,
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
};
const serverOptions = {
  keepAliveTimeout: 30_000,
  maxHeaderSize: 16_384,
  // `toTarget` refuses a request without a Host in a sentence.
  requireHostHeader: false,
};

/** Creates a server that does not listen yet, with TLS if `tls_cert` and `tls_key` are set. */
export function createHttpServer(
  settings: Pick<HttpSettings, 'tlsCert' | 'tlsKey' | 'httpHost' | 'insecure'>,
  cwd: string,
  timeouts = defaultTimeouts,
): { readonly server: Server; readonly secure: boolean } {
  const { tlsCert, tlsKey, httpHost, insecure } = settings;
  const options = { ...serverOptions, ...timeouts };
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw invalid(
      'tls_cert and tls_key belong together, but only one of them is set.',
      'Set both, or neither to serve without TLS.',
    );
  }
  const secure = tlsCert !== undefined && tlsKey !== undefined;
  if (!secure && !insecure && !isLoopback(httpHost)) {
    throw invalid(
      `Other machines can reach ${httpHost}, and without TLS anyone on the network path can read the token.`,
      'Set tls_cert and tls_key, serve on 127.0.0.1, or pass --insecure if something else encrypts.',
    );
  }
  if (!secure) return { server: createServer(options), secure };
  const [certPath, keyPath] = [resolve(cwd, tlsCert), resolve(cwd, tlsKey)];
  const files = { cert: readFile(certPath), key: readFile(keyPath) };
  try {
    return { server: createSecureServer({ ...options, ...files }), secure };
  } catch (error) {
    throw invalid(
      `${certPath} and ${keyPath} are not a certificate and its key: ${error instanceof Error ? error.message : error}.`,
      'Use PEM files, and the key that the certificate was made for.',
    );
  }
}

/** Starts to listen; returns the port. */
export function listen(
  server: Server,
  { httpHost, httpPort }: Pick<HttpSettings, 'httpHost' | 'httpPort'>,
): Promise<number> {
  return new Promise((done, fail) => {
    server.once('error', (error: NodeJS.ErrnoException) => fail(cannotListen(httpHost, httpPort, error)));
    server.listen(httpPort, httpHost, () => done((server.address() as AddressInfo).port));
  });
}

/** Sends requests to `listener`, and answers input that is not HTTP with a status and a sentence. */
export function serveRequests(server: Server, listener: RequestListener): void {
  const responses = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', (request, response) => {
    const { socket } = request;
    const open = responses.get(socket) ?? new Set();
    responses.set(socket, open.add(response));
    response.once('close', () => open.delete(response));
    toOriginForm(request);
    listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const hasBegun = [...(responses.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    // A second reply in the middle of a response would be read as part of its body.
    if (!socket.writable || hasBegun) socket.destroy();
    else refuseConnection(socket, toProblem(error));
  });
}

function toProblem({ code }: NodeJS.ErrnoException): HttpProblem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new HttpProblem(
      431,
      `The headers must be at most ${serverOptions.maxHeaderSize} bytes; send long data in the body.`,
    );
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new HttpProblem(408, 'The request took too long to arrive completely; send it again.');
  return new HttpProblem(
    400,
    'This is not a valid HTTP request; send HTTP/1.1, and TLS only to an address that begins with https.',
  );
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw invalid(
      `${path} cannot be read: ${error instanceof Error ? error.message : error}.`,
      'Set tls_cert and tls_key to files that can be read.',
    );
  }
}

function cannotListen(host: string, port: number, { code, message }: NodeJS.ErrnoException): NacreError {
  const isTaken = code === 'EADDRINUSE';
  return invalid(
    isTaken
      ? `Port ${port} of ${host} is already in use.`
      : `Cannot listen on ${host} port ${port}: ${message}.`,
    isTaken ? 'Choose another with --port; 0 picks a free one.' : 'Choose another with --host and --port.',
  );
}

function invalid(message: string, hint: string): NacreError {
  return new NacreError('settings_invalid', message, { hint });
}
