import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { NacreError } from '../../contract/failure.ts';
import type { ListedCommand } from '../../engine/commands.ts';
import type { ControlAnswer, ControlCall } from './control-call.ts';

/** A running server, reached through its socket. */
export interface ReachedServer {
  call(call: ControlCall): Promise<unknown>;
  close(): void;
}

/** Every server of this user that answers; what dead ones left is removed. */
export async function reachServers(folder: string): Promise<readonly ReachedServer[]> {
  const paths = listSockets(folder);
  const reached = await Promise.all(paths.map((path) => reach(path).catch(() => bury(path))));
  return reached.filter((server) => server !== undefined);
}

/** The server that has a command, by its id or name; throws where none has. */
export async function reachCommand(
  folder: string,
  idOrName: string,
): Promise<{ readonly server: ReachedServer; readonly command: ListedCommand }> {
  const servers = await reachServers(folder);
  const found: { server: ReachedServer; command: ListedCommand }[] = [];
  for (const server of servers) {
    const commands = (await server.call({ method: 'list' })) as readonly ListedCommand[];
    const command = commands.findLast(({ id, name }) => id === idOrName || name === idOrName);
    if (command) found.push({ server, command });
  }
  const [first] = found;
  for (const server of servers) if (server !== first?.server) server.close();
  if (first) return first;
  throw new NacreError('job_not_found', `No server has a command ${idOrName}.`, {
    hint: 'nacre ps lists them.',
  });
}

/** The one word that a command line has to have. */
export function oneWord(door: string, words: readonly string[]): string {
  const [word, ...more] = words;
  if (word !== undefined && more.length === 0) return word;
  throw new NacreError('invalid_request', `nacre ${door} takes the id or the name of one command.`, {
    hint: 'nacre ps lists them.',
  });
}

function listSockets(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith('.sock'))
      .map((name) => join(folder, name));
  } catch {
    return [];
  }
}

async function reach(path: string): Promise<ReachedServer> {
  const secret = readFileSync(`${path}.secret`, 'utf8');
  const socket = await open(path);
  const reader = createInterface({ input: socket });
  // Whoever closes the socket while it waits for an answer waits no longer.
  socket.on('close', () => reader.close());
  const lines = reader[Symbol.asyncIterator]();
  return {
    async call(call) {
      socket.write(`${JSON.stringify({ ...call, secret })}\n`);
      const { value, done } = await lines.next();
      if (done) throw new NacreError('shutting_down', 'The server has ended.');
      const answer = JSON.parse(value) as ControlAnswer;
      if ('result' in answer) return answer.result;
      const { code, message, hint } = answer.error;
      throw new NacreError(code, message, { hint });
    },
    close: () => void socket.destroy(),
  };
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket));
    socket.on('error', reject);
  });
}

function bury(path: string): undefined {
  for (const file of [path, `${path}.secret`]) rmSync(file, { force: true });
  return undefined;
}
