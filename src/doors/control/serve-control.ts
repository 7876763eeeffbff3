// A private socket through which the same user reaches the commands of a running server from another terminal:
// 1. a folder and a socket with owner-only permissions, and a secret in a file next to it, 2. one JSON request per line,
// which has to contain the secret, 3. each becomes an engine call by the local user, who may see every command.
import { randomBytes } from 'node:crypto';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NacreError } from '../../contract/failure.ts';
import { maxLineBytes } from '../../servers/control-call.ts';
import { createId } from '../../support/ids.ts';
import { listenAt } from '../../support/listen-at.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { answerRequest, type ControlledServer } from './answer-request.ts';

/** An open control socket. */
export interface ControlServer {
  close(): Promise<void>;
}

/** Opens the control socket of this process in a folder. */
export async function serveControl(folder: string, controlled: ControlledServer): Promise<ControlServer> {
  makeFolder(folder);
  const path = join(folder, `${createId(String(process.pid))}.sock`);
  const secretFile = `${path}.secret`;
  const secret = randomBytes(32).toString('hex');
  writeFileSync(secretFile, secret, { mode: 0o600 });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('close', () => sockets.delete(socket)));
    serveConnection(socket, secret, controlled);
  });
  await listen(server, path);
  // The control socket alone does not keep the process alive.
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
  return new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotOpen(path, error)));
    server.once('listening', resolve);
    listenAt(server, path, (draft) => chmodSync(draft, 0o600));
  });
}

function cannotOpen(path: string, { message }: Error): NacreError {
  return new NacreError('settings_invalid', `The socket ${path} cannot be opened: ${message}.`, {
    hint: 'Check that state_dir can be written and is on a file system with sockets, or choose another one.',
  });
}

function serveConnection(socket: Socket, secret: string, server: ControlledServer): void {
  const gone = new AbortController();
  socket.on('error', () => socket.destroy());
  socket.on('close', () => gone.abort());
  let lineBytes = 0;
  socket.on('data', (data) => {
    lineBytes += data.length;
    if (lineBytes > maxLineBytes) socket.destroy();
  });
  const answer = async (line: string) => {
    // Yields to the event loop between two replies, so that a `close` event can drop the rest of a long queue.
    await new Promise(setImmediate);
    if (socket.destroyed || socket.readableEnded) return;
    const reply = await answerRequest(line, secret, server, gone.signal);
    if (!socket.destroyed) socket.write(`${JSON.stringify(reply)}\n`);
  };
  // Requests are handled one at a time: typed input has to arrive in order, and replies carry no id.
  let turn = Promise.resolve();
  const lines = createInterface({ input: socket });
  // readline re-emits socket errors, such as EPIPE from a client that left before its reply.
  lines.on('error', () => {});
  lines.on('line', (line) => {
    lineBytes = 0;
    turn = turn.then(() => answer(line)).catch(() => void socket.destroy());
  });
}
