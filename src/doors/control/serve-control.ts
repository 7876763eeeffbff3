// A private socket through which the same user reaches the commands of a running server from another terminal:
// 1. a folder and a socket for the owner alone, and a secret in a file beside it, 2. one request a line, which has to
// bring the secret, 3. each is a call of the engine, on behalf of the person who may see every command.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NacreError } from '../../contract/failure.ts';
import type { Engine } from '../../engine/create-engine.ts';
import { createId } from '../../support/create-id.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type ControlAnswer, type ControlRequest, longestLine, person } from './control-call.ts';

/** A socket that is open. */
export interface ControlServer {
  close(): Promise<void>;
}

/** Opens the socket of this process in a folder. */
export async function serveControl(folder: string, engine: () => Promise<Engine>): Promise<ControlServer> {
  makeFolder(folder);
  const path = join(folder, `${createId(String(process.pid))}.sock`);
  const secretFile = `${path}.secret`;
  const secret = randomBytes(32).toString('hex');
  writeFileSync(secretFile, secret, { mode: 0o600 });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    serveSocket(socket, secret, engine);
  });
  await listen(server, path);
  // Nobody waits for this alone.
  server.unref();
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      for (const file of [path, secretFile]) rmSync(file, { force: true });
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      chmodSync(path, 0o600);
      resolve();
    });
  });
}

function serveSocket(socket: Socket, secret: string, engine: () => Promise<Engine>): void {
  socket.on('error', () => socket.destroy());
  let received = 0;
  socket.on('data', (data) => {
    received += data.length;
    if (received > longestLine) socket.destroy();
  });
  createInterface({ input: socket }).on('line', async (line) => {
    received = 0;
    const answer = await answerLine(line, secret, engine);
    socket.write(`${JSON.stringify(answer)}\n`);
  });
}

async function answerLine(
  line: string,
  secret: string,
  engine: () => Promise<Engine>,
): Promise<ControlAnswer> {
  try {
    const request = JSON.parse(line) as ControlRequest;
    if (!isSame(request.secret, secret)) throw new NacreError('invalid_request', 'The secret is wrong.');
    return { result: (await perform(await engine(), request)) ?? null };
  } catch (error) {
    const { code, message, hint } =
      error instanceof NacreError ? error : new NacreError('internal', String(error));
    return { error: { code, message, hint } };
  }
}

async function perform(engine: Engine, request: ControlRequest): Promise<unknown> {
  switch (request.method) {
    case 'list':
      return engine.list(person);
    case 'read':
      return engine.read(
        request.id,
        { ...request.query, howToReadOn: () => 'nacre logs shows it all.' },
        person,
      );
    case 'write':
      return engine.write(request.id, request.input, person);
    case 'stop':
      return engine.stop(request.id, { signal: 'SIGINT', graceMs: 2_000 }, person);
    case 'pause':
      return engine.pause();
    case 'resume':
      return engine.resume();
    case 'approvals':
      return inboxOf(engine).list();
    case 'answer':
      return inboxOf(engine).answer(request.id, request.answer, whoAnswers());
  }
}

function inboxOf({ approvals }: Engine): NonNullable<Engine['approvals']> {
  if (approvals) return approvals;
  throw new NacreError('invalid_request', 'Nothing can wait for approval on this server.');
}

// The socket and the secret are for the owner of this process alone.
function whoAnswers(): string {
  return `${userInfo().username}, from another terminal`;
}

function isSame(given: unknown, expected: string): boolean {
  const [one, other] = [Buffer.from(String(given)), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}
