import { readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import type { Duplex } from 'node:stream';
import { NacreError } from '../../contract/failure.ts';
import type { HttpSettings } from '../settings.ts';
import { HttpProblem, refuse } from './problem.ts';
import { isLoopback } from './sites.ts';
import { toOriginForm } from './to-origin-form.ts';

const options = {
  /** How much time a caller has to send a whole request, and how much for its headers. */
  requestTimeout: 60_000,
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  keepAliveTimeout: 30_000,
  maxHeaderSize: 16_384,
  // Our own check says so in a sentence.
  requireHostHeader: false,
};

/** A server that does not listen yet. */
export function createHttpServer(
  settings: HttpSettings,
  cwd: string,
): { readonly server: Server; readonly secure: boolean } {
  const { tlsCert, tlsKey, httpHost, insecure } = settings;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw invalid(
      'tls_cert and tls_key belong together, but only one of them is set.',
      'Set both, or none to serve without TLS.',
    );
  }
  const secure = tlsCert !== undefined && tlsKey !== undefined;
  if (!secure && !insecure && !isLoopback(httpHost)) {
    throw invalid(
      `Others can reach ${httpHost}, and without TLS whoever listens in can take the token.`,
      'Set tls_cert and tls_key, serve on 127.0.0.1, or say --insecure if something else encrypts.',
    );
  }
  if (!secure) return { server: createServer(options), secure };
  const [certPath, keyPath] = [resolve(cwd, tlsCert), resolve(cwd, tlsKey)];
  const files = { cert: readFile(certPath), key: readFile(keyPath) };
  try {
    return { server: createSecureServer({ ...options, ...files }), secure };
  } catch (error) {
    throw invalid(
      `${certPath} and ${keyPath} are no certificate and its key: ${error instanceof Error ? error.message : error}.`,
      'Give both in PEM; the key must be the one that the certificate was made for.',
    );
  }
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
  const answers = new WeakMap<Duplex, Set<ServerResponse>>();
  server.on('request', (request, response) => {
    const { socket } = request;
    const open = answers.get(socket) ?? new Set();
    answers.set(socket, open.add(response));
    response.once('close', () => open.delete(response));
    toOriginForm(request);
    listener(request, response);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isAnswering = [...(answers.get(socket) ?? [])].some(({ headersSent }) => headersSent);
    // In the middle of an answer another one would be taken for a part of it.
    if (!socket.writable || isAnswering) socket.destroy();
    else refuse(socket, toProblem(error));
  });
}

function toProblem({ code }: NodeJS.ErrnoException): HttpProblem {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new HttpProblem(
      431,
      `The headers must be at most ${options.maxHeaderSize} bytes; send long data in the body.`,
    );
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new HttpProblem(
      408,
      `The request did not arrive whole within ${options.requestTimeout} ms; send it again.`,
    );
  return new HttpProblem(
    400,
    'This is no valid HTTP request; send HTTP/1.1, over TLS only where the address begins with https.',
  );
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw invalid(
      `${path} cannot be read: ${error instanceof Error ? error.message : error}.`,
      'Correct tls_cert or tls_key to a file that can be read.',
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
