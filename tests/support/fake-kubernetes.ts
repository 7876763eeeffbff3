// A stand-in for the API of a cluster: pods are folders of this machine, and their programs run here with another home.
import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** A cluster for tests. */
export interface FakeKubernetes {
  readonly server: string;
  /** The pods that exist, by name, as they were created. */
  readonly pods: Map<string, FakePod>;
  /** Headers of the last request. */
  lastToken(): string | undefined;
  /** The version of the exec protocol that was chosen last. */
  lastProtocol(): string | undefined;
  stop(): void;
}

/** A pod as it was created. */
export interface FakePod {
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: Readonly<Record<string, unknown>>;
  status?: unknown;
}

/** Starts a cluster that speaks one version of the exec protocol. */
export async function startFakeKubernetes(protocol: string, home: string): Promise<FakeKubernetes> {
  const pods = new Map<string, FakePod>();
  const last: { token?: string | undefined; protocol?: string } = {};
  const server = createServer(async (request, answer) => {
    last.token = request.headers.authorization;
    const text = (await request.toArray()).join('');
    reply(pods, request, answer, text);
  });
  const sockets = new WebSocketServer({
    server,
    handleProtocols: (offered) => (offered.has(protocol) ? protocol : false),
  });
  sockets.on('connection', (socket, request) => {
    last.protocol = socket.protocol;
    runInPod(socket, new URL(request.url ?? '', 'http://localhost'), home);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    server: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    pods,
    lastToken: () => last.token,
    lastProtocol: () => last.protocol,
    stop() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      server.close();
    },
  };
}

function reply(pods: Map<string, FakePod>, request: IncomingMessage, answer: ServerResponse, text: string) {
  const [, name = ''] = /\/pods\/([^?]*)/.exec(request.url ?? '') ?? [];
  const send = (status: number, body: unknown) => void answer.writeHead(status).end(JSON.stringify(body));
  if (request.method === 'POST') {
    const pod = JSON.parse(text) as FakePod;
    pods.set(pod.metadata.name, pod);
    return send(201, pod);
  }
  if (name === '') return send(200, { items: [...pods.values()] });
  const pod = pods.get(name);
  if (!pod) return send(404, { message: `pods "${name}" not found` });
  if (request.method === 'DELETE') pods.delete(name);
  return send(200, { status: { phase: 'Running' }, ...pod });
}

function runInPod(socket: WebSocket, url: URL, home: string): void {
  const [program = '', ...words] = url.searchParams.getAll('command');
  const env = { PATH: `${process.execPath.replace(/\/[^/]*$/, '')}:/usr/bin:/bin`, HOME: home };
  const child = spawn(program, words, { env });
  const send = (channel: number, data: Buffer) => socket.send(Buffer.concat([Buffer.from([channel]), data]));
  // A real cluster begins with empty messages.
  for (const channel of [1, 2, 3]) if (channel !== 3) send(channel, Buffer.alloc(0));
  child.stdout.on('data', (data: Buffer) => send(1, data));
  child.stderr.on('data', (data: Buffer) => send(2, data));
  child.stdin.on('error', () => {});
  socket.on('message', (message: Buffer) => {
    if (message[0] === 0) child.stdin.write(message.subarray(1));
    if (message[0] === 255) child.stdin.end();
  });
  socket.on('close', () => child.stdin.end());
  child.on('close', (code) => {
    const causes = [{ reason: 'ExitCode', message: String(code) }];
    const status = code === 0 ? { status: 'Success' } : { status: 'Failure', details: { causes } };
    send(3, Buffer.from(JSON.stringify(status)));
    socket.close();
  });
}
