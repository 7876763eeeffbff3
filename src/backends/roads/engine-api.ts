// Requests to the HTTP API of Docker, which Podman has too, over its Unix socket. Paths have no
// version prefix, because engines drop support for old versions.
import { type IncomingMessage, request as sendRequest } from 'node:http';
import type { Duplex } from 'node:stream';
import { isObject } from '../../support/is-object.ts';

/** The engine answered a request with an error. */
export class EngineError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** A request to an engine. */
export interface EngineRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: unknown;
  /** Fails if the engine sends nothing for this long; 30 seconds by default. */
  readonly silentMs?: number | undefined;
}

const silentMs = 30_000;
const maxAnswerBytes = 16_777_216;

/** The API behind one socket. */
export interface EngineApi {
  readonly socketPath: string;
  /** Makes a request; returns the JSON of the answer, or null if it has none. */
  call(request: EngineRequest): Promise<unknown>;
  /** Makes a request whose answer is a list of JSON lines, such as the progress of a pull. */
  follow(request: EngineRequest, onLine: (line: Readonly<Record<string, unknown>>) => void): Promise<void>;
  /** Makes a request after which the connection carries the bytes of a program. */
  upgrade(request: EngineRequest): Promise<Duplex>;
}

/** Creates the API behind a socket. */
export function createEngineApi(socketPath: string): EngineApi {
  return {
    socketPath,
    async call(request) {
      const answer = await open(socketPath, request);
      const text = await readText(answer);
      return text === '' ? null : parse(text);
    },
    async follow(request, onLine) {
      const answer = await open(socketPath, request);
      await readLines(answer, onLine);
    },
    upgrade: (request) => openUpgraded(socketPath, request),
  };
}

function open(socketPath: string, request: EngineRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const sent = send(socketPath, request, {});
    sent.on('error', reject);
    sent.on('response', (answer) => {
      if ((answer.statusCode ?? 500) < 400) resolve(answer);
      else toError(answer).then(reject, reject);
    });
  });
}

function openUpgraded(socketPath: string, request: EngineRequest): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const sent = send(socketPath, request, { connection: 'Upgrade', upgrade: 'tcp' });
    sent.on('error', reject);
    sent.on('response', (answer) => toError(answer).then(reject, reject));
    sent.on('upgrade', (_, socket, head) => {
      socket.setTimeout(0);
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
  });
}

function send(socketPath: string, request: EngineRequest, headers: Readonly<Record<string, string>>) {
  const { method, path, query, body } = request;
  const text = body === undefined ? undefined : JSON.stringify(body);
  const search = query === undefined ? '' : `?${new URLSearchParams(query)}`;
  const sent = sendRequest({
    ...{ socketPath, method, path: `${path}${search}`, agent: false },
    timeout: request.silentMs ?? silentMs,
    headers: {
      host: 'localhost',
      ...headers,
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      }),
    },
  });
  sent.on('timeout', () => sent.destroy(new Error('it does not answer')));
  sent.end(text);
  return sent;
}

async function toError(answer: IncomingMessage): Promise<EngineError> {
  const text = await readText(answer);
  const found = parse(text);
  const message = isObject(found) && typeof found.message === 'string' ? found.message : text;
  return new EngineError(answer.statusCode ?? 500, message);
}

async function readText(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of answer as AsyncIterable<Buffer>) {
    bytes += piece.length;
    if (bytes > maxAnswerBytes) throw new Error('its answer is too long');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

async function readLines(
  answer: IncomingMessage,
  onLine: (line: Readonly<Record<string, unknown>>) => void,
): Promise<void> {
  let rest = '';
  for await (const piece of answer.setEncoding('utf8') as AsyncIterable<string>) {
    const lines = (rest + piece).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > maxAnswerBytes) throw new Error('its answer is too long');
    for (const line of lines) pass(line);
  }
  pass(rest);

  function pass(line: string) {
    const found = parse(line);
    if (isObject(found)) onLine(found);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
