import { readdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { NacreError } from '../contract/failure.ts';
import { readRegularFile } from '../support/regular-file.ts';
import { settlesWithin } from '../support/timing.ts';
import type { ControlCall, ControlReply } from './control-call.ts';
import { openSocket } from './open-socket.ts';
import { type KeptEngine, toReachedServer } from './reach-kept.ts';
import { removeLeftovers } from './remove-leftovers.ts';

/** The folder with the sockets of running servers. */
export interface ServerFolder {
  readonly controlDir: string;
  /** How long a server may take to reply to a call that does not wait for a command. */
  readonly replyMs?: number | undefined;
  /** The commands that the detached worker keeps; undefined if there are none. */
  readonly keptCommands?: (() => Promise<KeptEngine | undefined>) | undefined;
  /** Only the server with this pid; without it every server. */
  readonly pid?: string | undefined;
}

/** A connection to a running server. */
export interface ReachedServer {
  readonly pid: string;
  /** Makes a call; throws if the server does not reply in time, and closes the connection. */
  call(call: ControlCall): Promise<unknown>;
  /** Opens another connection, for calls that must not queue behind one that waits. */
  reconnect(): Promise<ReachedServer>;
  close(): void;
}

/** The replies of all servers of this user. */
export interface ServerReplies<Result> {
  readonly replies: readonly { readonly server: ReachedServer; readonly result: Result }[];
  /** The errors of servers that did not reply. */
  readonly failed: readonly NacreError[];
  close(): void;
}

/** Calls every server of this user; removes the files of dead ones. */
export async function askServers<Result>(
  { controlDir, replyMs = defaultReplyMs, keptCommands, pid }: ServerFolder,
  call: ControlCall,
): Promise<ServerReplies<Result>> {
  await removeLeftovers(controlDir);
  const paths = listSockets(controlDir).filter((path) => pid === undefined || pidOf(path) === pid);
  const reached = await Promise.all(paths.map((path) => tryToReach(path, replyMs)));
  const servers = reached.flatMap((one) => (one === undefined || one instanceof NacreError ? [] : [one]));
  const settled = await Promise.allSettled(
    servers.map(async (server) => ({ server, result: (await server.call(call)) as Result })),
  );
  const replies = settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const kept = call.method === 'list' ? await askKept<Result>(keptCommands, replies) : undefined;
  return {
    replies: kept ? [...replies, kept] : replies,
    failed: [
      ...reached.filter((one) => one instanceof NacreError),
      ...settled.flatMap((one) => (one.status === 'rejected' ? [one.reason as NacreError] : [])),
    ],
    close() {
      for (const server of servers) server.close();
      kept?.server.close();
    },
  };
}

// A command that a running server follows belongs to that server; other commands have only the worker.
async function askKept<Result>(
  keptCommands: ServerFolder['keptCommands'],
  replies: readonly { readonly result: Result }[],
): Promise<{ readonly server: ReachedServer; readonly result: Result } | undefined> {
  const kept = await keptCommands?.().catch(() => undefined);
  if (!kept) return undefined;
  const server = toReachedServer(kept);
  const known = new Set(
    replies.flatMap(({ result }) => (result as readonly { id: string }[]).map(({ id }) => id)),
  );
  const listed = (await server.call({ method: 'list' }).catch(() => [])) as readonly { id: string }[];
  return { server, result: listed.filter(({ id }) => !known.has(id)) as Result };
}

/** The pids of the servers that have a socket; the process of one may be gone. */
export function listServerPids(controlDir: string): readonly string[] {
  return listSockets(controlDir).map(pidOf);
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

async function tryToReach(path: string, replyMs: number): Promise<ReachedServer | NacreError | undefined> {
  try {
    return await reach(path, replyMs);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // ECONNREFUSED: the server was killed. A server that ends normally removes its own files.
    if (code === 'ECONNREFUSED') removeSocket(path);
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return undefined;
    return new NacreError('internal', `The server with pid ${pidOf(path)} cannot be reached: ${error}.`, {
      hint: 'Check that it is yours and that it runs: nacre ps lists the commands of servers that reply.',
    });
  }
}

async function reach(path: string, replyMs: number): Promise<ReachedServer> {
  const secret = readRegularFile(`${path}.secret`);
  const socket = await openSocket(path);
  const reader = createInterface({ input: socket });
  // Ends `lines`, and with it a call that waits for its reply, when the socket closes.
  socket.on('close', () => reader.close());
  const lines = reader[Symbol.asyncIterator]();
  return {
    pid: pidOf(path),
    reconnect: () => reach(path, replyMs),
    async call(call) {
      socket.write(`${JSON.stringify({ ...call, secret })}\n`);
      const line = lines.next().catch(() => closed);
      if (!(await settlesWithin(line, replyLimit(call, replyMs)))) {
        socket.destroy();
        throw noReply(pidOf(path));
      }
      const { value, done } = await line;
      if (done) throw hasEnded(pidOf(path));
      const reply = JSON.parse(value) as ControlReply;
      if ('result' in reply) return reply.result;
      const { code, message, hint } = reply.error;
      throw new NacreError(code, message, { hint });
    },
    close: () => void socket.destroy(),
  };
}

// `stop` and `end_all` reply once the commands have ended, which includes their grace period.
function replyLimit(call: ControlCall, replyMs: number): number {
  if (call.method === 'read' || call.method === 'bytes') return replyMs + call.query.waitMs;
  return call.method === 'stop' || call.method === 'end_all' ? 4 * replyMs : replyMs;
}

const defaultReplyMs = 5_000;
const closed = { done: true, value: undefined } as const;

function noReply(pid: string): NacreError {
  return new NacreError('internal', `The server with pid ${pid} does not reply.`, {
    hint: 'It may be stopped or overloaded: check it with ps, and kill it if necessary.',
  });
}

function pidOf(path: string): string {
  return basename(path).split('_')[0] ?? '';
}

function removeSocket(path: string): void {
  for (const file of [path, `${path}.secret`]) rmSync(file, { force: true });
}

function hasEnded(pid: string): NacreError {
  return new NacreError('shutting_down', `The server with pid ${pid} has ended.`, {
    hint: 'nacre ps lists the commands of running servers.',
  });
}
