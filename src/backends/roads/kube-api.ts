// Requests to the API of a Kubernetes cluster, and programs in its pods over a WebSocket.
import { request as sendPlain } from 'node:http';
import { request as sendEncrypted } from 'node:https';
import { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import { isObject } from '../../support/is-object.ts';
import type { FarEnd, FarProgram } from '../../wire/road.ts';
import type { Cluster } from './kubeconfig.ts';

/** The cluster answered a request with an error. */
export class KubeError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const silentMs = 10_000;
const connectMs = 7_000;
const maxAnswerBytes = 16_777_216;

/** Makes a request; returns the JSON of the answer. */
export function callKube(
  cluster: Cluster,
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const url = toUrl(cluster, path);
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    ...toHeaders(cluster),
    accept: 'application/json',
    ...(text !== undefined && {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    }),
  };
  const options = { method, headers, timeout: silentMs, agent: false as const };
  return new Promise((resolve, reject) => {
    const sent =
      url.protocol === 'http:' ? sendPlain(url, options) : sendEncrypted(url, { ...options, ...cluster.tls });
    const stop = () => sent.destroy(new Error('it does not answer'));
    const connecting = setTimeout(stop, connectMs);
    sent.on('socket', (socket) => socket.on('connect', () => clearTimeout(connecting)));
    sent.on('close', () => clearTimeout(connecting));
    sent.on('timeout', stop);
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const pieces: Buffer[] = [];
      let bytes = 0;
      answer.on('data', (piece: Buffer) => {
        pieces.push(piece);
        bytes += piece.length;
        if (bytes > maxAnswerBytes) sent.destroy(new Error('its answer is too long'));
      });
      answer.on('error', reject);
      answer.on('end', () => {
        const { statusCode = 500 } = answer;
        const found = parse(Buffer.concat(pieces).toString());
        if (statusCode < 400) resolve(found);
        else reject(new KubeError(statusCode, messageOf(found) ?? `HTTP ${statusCode}`));
      });
    });
    sent.end(text);
  });
}

// Clusters before 1.30 support only version 4, which cannot close stdin; nacre does not depend on that.
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const channels = { stdin: 0, stdout: 1, stderr: 2, status: 3, close: 255 } as const;
const openMs = 10_000;
const pingMs = 20_000;
const stderrBytes = 8_192;

/** Starts a program in the container of a pod. */
export function execInPod(cluster: Cluster, pod: string, argv: readonly string[]): Promise<FarProgram> {
  const query = new URLSearchParams([
    ...argv.map((word) => ['command', word] as [string, string]),
    ...([
      ['container', 'nacre'],
      ['stdin', 'true'],
      ['stdout', 'true'],
      ['stderr', 'true'],
    ] as [string, string][]),
  ]);
  const url = toUrl(cluster, `/api/v1/namespaces/${cluster.namespace}/pods/${pod}/exec?${query}`);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  const socket = new WebSocket(url, protocols, {
    ...cluster.tls,
    headers: toHeaders(cluster),
    handshakeTimeout: openMs,
    perMessageDeflate: false,
    maxPayload: maxAnswerBytes,
  });
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('unexpected-response', (_, answer) => {
      const { statusCode = 500 } = answer;
      reject(new KubeError(statusCode, `it refused the exec with HTTP ${statusCode}`));
      socket.terminate();
    });
    socket.on('open', () => resolve(toProgram(socket)));
  });
}

function toProgram(socket: WebSocket): FarProgram {
  const end: { code: number | null; stderr: string } = { code: null, stderr: '' };
  const stream = new Duplex({
    read: () => socket.resume(),
    write: (data: Buffer, _, done) => send(socket, [channels.stdin], data, done),
    writev(pieces, done) {
      send(socket, [channels.stdin], Buffer.concat(pieces.map(({ chunk }) => chunk as Buffer)), done);
    },
    final(done) {
      if (socket.protocol === protocols[0])
        send(socket, [channels.close, channels.stdin], Buffer.alloc(0), done);
      else done();
    },
    destroy(error, done) {
      socket.terminate();
      done(error);
    },
  });
  socket.on('message', (message: Buffer) => {
    const data = message.subarray(1);
    if (message[0] === channels.stdout && data.length > 0 && !stream.push(data)) socket.pause();
    if (message[0] === channels.stderr)
      end.stderr = (end.stderr + data.toString('latin1')).slice(-stderrBytes);
    if (message[0] === channels.status) {
      end.code = toExitCode(parse(data.toString()));
      socket.close();
    }
  });
  // Proxies between here and the cluster close connections that are silent.
  const ping = setInterval(() => socket.ping(), pingMs).unref();
  const ended = new Promise<FarEnd>((resolve) => {
    socket.on('close', () => {
      clearInterval(ping);
      if (!stream.readableEnded && !stream.destroyed) stream.push(null);
      resolve(end);
    });
  });
  return { stream, ended };
}

// Clusters close a connection if a message is larger than 32 MiB.
const maxMessageBytes = 1_048_576;

function send(socket: WebSocket, head: readonly number[], data: Buffer, done: (error?: Error) => void): void {
  const piece = data.subarray(0, maxMessageBytes);
  const rest = data.subarray(maxMessageBytes);
  socket.send(Buffer.concat([Buffer.from(head), piece]), { binary: true }, (error) => {
    if (error || rest.length === 0) done(error);
    else send(socket, head, rest, done);
  });
}

/** The exit code in the status of a program; null if it did not run. */
export function toExitCode(status: unknown): number | null {
  if (!isObject(status)) return null;
  if (status.status === 'Success') return 0;
  const causes =
    isObject(status.details) && Array.isArray(status.details.causes) ? status.details.causes : [];
  const cause = causes.filter(isObject).find(({ reason }) => reason === 'ExitCode');
  const code = Number(cause?.message ?? Number.NaN);
  return Number.isInteger(code) ? code : null;
}

function toUrl({ server }: Cluster, path: string): URL {
  return new URL(`${server.origin}${server.pathname.replace(/\/$/, '')}${path}`);
}

function toHeaders({ token }: Cluster): Readonly<Record<string, string>> {
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

function messageOf(found: unknown): string | undefined {
  return isObject(found) && typeof found.message === 'string' ? found.message : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
