import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { createPlace, endKept, sleep, startInProcess, survivors } from './nacre.ts';

/** Options of `serve`. */
export interface ServeOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The text of the user's settings file. */
  readonly userFile?: string;
}

/** A response with its parsed body. */
export interface HttpReply {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Readonly<Record<string, unknown>>;
}

/** The address and token of a server, as it prints them with `--json`. */
export interface Greeting {
  readonly address: string;
  readonly token: string;
  readonly link: string;
  readonly mcp: string;
}

/** Runs `nacre serve` on a free port inside this process, so that its code counts for coverage. */
export async function serve({ env = {}, args = [], userFile }: ServeOptions = {}) {
  const place = createPlace(env);
  if (userFile !== undefined) {
    mkdirSync(join(place.cwd, '.config', 'nacre'), { recursive: true });
    writeFileSync(join(place.cwd, '.config', 'nacre', 'config.yaml'), userFile);
  }
  const started = startInProcess(['serve', '--port', '0', '--json', ...args], place);
  const greeting = await greetingOf(started);
  const call = callsTo(greeting);
  return {
    ...place,
    ...greeting,
    ...call,
    port: Number(new URL(greeting.address).port),
    stderr: started.err.text,
    interrupt: started.interrupt,
    ended: started.ended,
    /** Stops the server and returns the pids of processes that it left running. */
    async close(): Promise<number[]> {
      started.interrupt('SIGTERM');
      await started.ended;
      await endKept(place);
      return survivors(place.mark);
    },
  };
}

/** A server started by `serve`. */
export type TestServer = Awaited<ReturnType<typeof serve>>;

async function greetingOf({ out, ended }: ReturnType<typeof startInProcess>): Promise<Greeting> {
  let early: string | undefined;
  ended.then(({ stderr }) => {
    early = stderr;
  });
  while (!out.text().includes('\n')) {
    if (early !== undefined) throw new Error(`The server ended during start-up: ${early}`);
    await sleep(5);
  }
  return JSON.parse(out.text());
}

/** Calls to a server, with its token. */
export function callsTo({ address, token }: Pick<Greeting, 'address' | 'token'>) {
  const bearer = { Authorization: `Bearer ${token}` };
  const send = async (path: string, init: RequestInit = {}): Promise<HttpReply> => {
    const reply = await fetch(`${address}${path}`, init);
    const text = await reply.text();
    const isJson = reply.headers.get('content-type')?.includes('json');
    return { status: reply.status, headers: reply.headers, body: isJson ? JSON.parse(text) : { text } };
  };
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    send(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...bearer, ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  return {
    bearer,
    send,
    post,
    /** POST /api/shell. */
    shell: (command: string, args: readonly string[] = [], more: object = {}) =>
      post('/api/shell', { command, args, ...more }),
  };
}

/** Presses the button behind a one-time link, as a browser does; `address` is where the server listens. */
export function takeLink(address: string, link: string, host = new URL(link).host): Promise<HttpReply> {
  const { origin, search, pathname } = new URL(link);
  return rawRequest(address, pathname, {
    method: 'POST',
    headers: { Host: host, Origin: origin, 'Content-Type': 'application/x-www-form-urlencoded' },
    body: search.slice(1),
  });
}

/** Sends a request with headers that `fetch` does not allow, such as `Host`. */
export function rawRequest(
  address: string,
  path: string,
  {
    method = 'GET',
    headers = {},
    body,
  }: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<HttpReply> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(address);
    const outgoing = request({ hostname, port, path, method, headers }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const isJson = incoming.headers['content-type']?.includes('json');
        resolve({
          status: incoming.statusCode ?? 0,
          headers: new Headers(incoming.headers as Record<string, string>),
          body: isJson && text !== '' ? JSON.parse(text) : { text },
        });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
