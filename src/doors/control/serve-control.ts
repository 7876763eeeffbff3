// A private socket through which the same user reaches the commands of a running server from another terminal:
// 1. a folder and a socket for the owner alone, and a secret in a file beside it, 2. one request a line, which has to
// bring the secret, 3. each is a call of the engine, on behalf of the person who may see every command.
import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NacreError } from '../../contract/failure.ts';
import type { Engine } from '../../engine/engine.ts';
import { createId } from '../../support/create-id.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { answerLine } from './answer-line.ts';
import { longestLine } from './control-call.ts';

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
    server.once('error', (error) => reject(notOpened(path, error)));
    server.listen(path, () => {
      chmodSync(path, 0o600);
      resolve();
    });
  });
}

function notOpened(path: string, { message }: Error): NacreError {
  return new NacreError('settings_invalid', `The socket ${path} cannot be opened: ${message}.`, {
    hint: 'Its path may have about 100 characters: choose a shorter state_dir if it is longer.',
  });
}

function serveSocket(socket: Socket, secret: string, engine: () => Promise<Engine>): void {
  const gone = new AbortController();
  socket.on('error', () => socket.destroy());
  socket.on('close', () => gone.abort());
  let received = 0;
  socket.on('data', (data) => {
    received += data.length;
    if (received > longestLine) socket.destroy();
  });
  const answer = async (line: string) => {
    // Whoever has gone away is noticed between two answers, however many were asked for.
    await new Promise(setImmediate);
    if (socket.destroyed || socket.readableEnded) return;
    const answered = await answerLine(line, secret, engine, gone.signal);
    if (!socket.destroyed) socket.write(`${JSON.stringify(answered)}\n`);
  };
  // One after the other: what is typed must arrive in order, and so must the answers.
  let turn = Promise.resolve();
  const lines = createInterface({ input: socket });
  // It repeats the errors of its socket: somebody who has gone away before the answer is one.
  lines.on('error', () => {});
  lines.on('line', (line) => {
    received = 0;
    turn = turn.then(() => answer(line)).catch(() => void socket.destroy());
  });
}
