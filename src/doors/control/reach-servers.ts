import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { NacreError } from '../../contract/failure.ts';
import { within } from '../../support/within.ts';
import type { ControlAnswer, ControlCall } from './control-call.ts';

/** A running server, reached through its socket. */
export interface ReachedServer {
  readonly pid: string;
  /** Asks it for something; one that does not answer in time is given up. */
  call(call: ControlCall): Promise<unknown>;
  /** Another connection, for what must not wait behind a call that does. */
  again(): Promise<ReachedServer>;
  close(): void;
}

/** What the servers of this user answered. */
export interface Answers<Result> {
  readonly answered: readonly { readonly server: ReachedServer; readonly result: Result }[];
  /** What went wrong with those that did not. */
  readonly failed: readonly NacreError[];
  close(): void;
}

/** Asks every server of this user; what dead ones left is removed. */
export async function askServers<Result>(folder: string, call: ControlCall): Promise<Answers<Result>> {
  const reached = await Promise.all(listSockets(folder).map(tryToReach));
  const servers = reached.flatMap((one) => (one === undefined || one instanceof NacreError ? [] : [one]));
  const answers = await Promise.allSettled(
    servers.map(async (server) => ({ server, result: (await server.call(call)) as Result })),
  );
  return {
    answered: answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    failed: [
      ...reached.filter((one) => one instanceof NacreError),
      ...answers.flatMap((one) => (one.status === 'rejected' ? [one.reason as NacreError] : [])),
    ],
    close() {
      for (const server of servers) server.close();
    },
  };
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

async function tryToReach(path: string): Promise<ReachedServer | NacreError | undefined> {
  try {
    return await reach(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Nobody listens any more; a server that ends just now removes its files itself.
    if (code === 'ECONNREFUSED') bury(path);
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return undefined;
    return new NacreError('internal', `The server with pid ${pidOf(path)} cannot be reached: ${error}.`, {
      hint: 'Check that it is yours and runs: nacre ps lists those that answer.',
    });
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
    pid: pidOf(path),
    again: () => reach(path),
    async call(call) {
      socket.write(`${JSON.stringify({ ...call, secret })}\n`);
      const line = lines.next().catch(() => gone);
      if (!(await within(line, patienceFor(call)))) {
        socket.destroy();
        throw silent(pidOf(path));
      }
      const { value, done } = await line;
      if (done) throw hasEnded(pidOf(path));
      const answer = JSON.parse(value) as ControlAnswer;
      if ('result' in answer) return answer.result;
      const { code, message, hint } = answer.error;
      throw new NacreError(code, message, { hint });
    },
    close: () => void socket.destroy(),
  };
}

// What ends commands takes as long as they are given to end by themselves.
function patienceFor(call: ControlCall): number {
  if (call.method === 'read') return usualMs + call.query.waitMs;
  return call.method === 'stop' || call.method === 'end_all' ? 4 * usualMs : usualMs;
}

const usualMs = 5_000;
const gone = { done: true, value: undefined } as const;

function silent(pid: string): NacreError {
  return new NacreError('internal', `The server with pid ${pid} does not answer.`, {
    hint: 'It may be stopped or overloaded: look at it with ps, and end it if need be.',
  });
}

function pidOf(path: string): string {
  return basename(path).split('_')[0] ?? '';
}

function open(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path, () => resolve(socket));
    socket.on('error', reject);
  });
}

function bury(path: string): void {
  for (const file of [path, `${path}.secret`]) rmSync(file, { force: true });
}

function hasEnded(pid: number | string): NacreError {
  return new NacreError('shutting_down', `The server with pid ${pid} has ended.`, {
    hint: 'nacre ps lists the commands of those that run.',
  });
}
