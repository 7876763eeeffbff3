// One request and its reply, on Node's own `IncomingMessage` and `ServerResponse`:
// 1. `openExchange` reads the headers and watches for a disconnect, 2. `toTarget` resolves the path, 3. a handler returns
// a `Reply`, 4. `send` writes headers and body in one call. The web's Request and Response, with their body streams,
// would cost as much as the rest of a POST /api/shell; only MCP uses them (mcp/web-messages.ts).
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { toHeaders } from './headers.ts';
import { type FailureReply, HttpProblem } from './problem.ts';
import { type RequestHeaders, readHeaders } from './raw-headers.ts';

/** A request that is being served. */
export interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly method: string;
  readonly headers: RequestHeaders;
  /** The caller's IP address. */
  readonly address: string;
  /** Aborts when the caller disconnects before it has its reply. */
  readonly signal: AbortSignal;
}

/** The target of a request. */
export interface RequestTarget {
  /** The path, still percent-encoded, with `.` and `..` segments resolved. */
  readonly path: string;
  /** The query string, with its `?`; empty without one. */
  readonly search: string;
}

/** A reply. */
export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | FileBody;
}

/** The body of a reply that is read while it is sent, such as a file. */
export interface FileBody {
  /** Undefined if the length is not known in advance; the reply then uses chunked transfer encoding. */
  readonly length: number | undefined;
  open(): Readable;
  /** Closes the file of a reply without a body, such as that to HEAD. */
  discard(): Promise<void>;
}

/** A reply with a JSON body. */
export function toJsonReply(status: number, value: unknown, headers: Reply['headers'] = {}): Reply {
  return { status, headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(value) };
}

/** The JSON reply to a request that failed. */
export function toFailureReply({ status, body, headers }: FailureReply): Reply {
  return toJsonReply(status, body, headers);
}

/** Starts to serve a request. */
export function openExchange(incoming: IncomingMessage, outgoing: ServerResponse): Exchange {
  const { method = 'GET', socket } = incoming;
  return {
    incoming,
    outgoing,
    method,
    headers: readHeaders(incoming.rawHeaders),
    address: socket.remoteAddress ?? '',
    signal: watchDisconnect(incoming, outgoing),
  };
}

/** Writes a reply; `corsOrigin` is the origin of another page that may read it. */
export function send({ outgoing, method }: Exchange, reply: Reply, corsOrigin: string | undefined): void {
  const { status, headers, body } = reply;
  const isFile = typeof body === 'object' && 'open' in body;
  const size = isFile ? body.length : Buffer.byteLength(body);
  const hasLength = size !== undefined && status !== 204 && status !== 304;
  const length = hasLength ? { 'Content-Length': String(size) } : {};
  outgoing.writeHead(status, { ...toHeaders(headers, corsOrigin), ...length });
  if (!isFile) outgoing.end(body);
  else if (method === 'HEAD' || body.length === 0) endWithout(body, outgoing);
  else stream(body, outgoing);
}

function endWithout(body: FileBody, outgoing: ServerResponse): void {
  outgoing.end();
  body.discard().catch(() => {});
}

const stalledMs = 60_000;

// `pipeline` reads only as fast as the caller does, and closes the file if the caller leaves; one that reads nothing for
// `stalledMs` is disconnected, because each open reply has a file descriptor.
function stream(body: FileBody, outgoing: ServerResponse): void {
  outgoing.setTimeout(stalledMs, () => outgoing.destroy());
  pipeline(body.open(), outgoing, () => outgoing.setTimeout(0));
}

const plainPath = /^(?:\/[\w-]+)+$/;

/** Parses the target of a request; throws 400 for one that is malformed or has no usable Host. */
export function toTarget({ url = '', headers }: IncomingMessage): RequestTarget {
  if (!/^[\w.:[\]-]+$/.test(headers.host ?? '') || !url.startsWith('/') || /^[^?]*\\/.test(url))
    throw malformed();
  if (plainPath.test(url)) return { path: url, search: '' };
  try {
    const { pathname, search } = new URL(`http://localhost${url}`);
    return { path: pathname, search };
  } catch {
    throw malformed();
  }
}

function malformed(): HttpProblem {
  return new HttpProblem(400, 'The Host header or the target of the request is malformed; correct it.');
}

function watchDisconnect({ socket }: IncomingMessage, outgoing: ServerResponse): AbortSignal {
  const gone = new AbortController();
  const abort = () => gone.abort();
  // A pipelined response has no socket until earlier responses are sent, and emits no `close` when the socket closes.
  if (outgoing.socket === null) socket.setMaxListeners(0).once('close', abort);
  outgoing.once('close', () => {
    socket.off('close', abort);
    if (!outgoing.writableFinished) abort();
  });
  return gone.signal;
}

const unreadBodyMs = 500;

/**
 * Bounds the rest of a body that no handler read. Node discards it after the reply, so that the connection can be
 * reused; if it is still arriving after `unreadBodyMs`, the connection is closed.
 */
export function dropUnreadBody({ incoming }: Exchange): void {
  if (incoming.complete) return;
  const timer = setTimeout(() => incoming.socket.destroySoon(), unreadBodyMs);
  incoming.once('close', () => clearTimeout(timer));
}
