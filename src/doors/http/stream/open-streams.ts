import type { Server } from 'node:http';
import type { WebSocket } from 'ws';
import { sleep } from '../../../support/timing.ts';
import type { Authenticate } from '../access/authenticate.ts';
import type { HttpCaller } from '../access/callers.ts';
import { acceptUpgrades, consolePath, streamPath } from './accept-upgrades.ts';
import { createResumableCommands, type ResumableCommand } from './resumable-commands.ts';
import { type SocketDeps, serveSocket } from './serve-socket.ts';

/** The commands that are streamed over WebSockets. */
export interface Streams {
  /** Accepts sockets on one more server. */
  attach(server: Server): void;
  /** How many running commands have a client that waits for their end. */
  countOpen(): number;
  /** Ends every command, sends its end to the client, and closes the sockets. */
  close(): Promise<void>;
}

/** Timeouts that tests shorten. */
export interface StreamTimes {
  /** How long a command outlives its socket. */
  readonly expiryMs?: number;
  readonly pingMs?: number;
}

const stopSteps = { signal: 'SIGTERM', graceMs: 2_000 } as const;
const lastMessagesMs = 1_000;

type ServeSocket = (socket: WebSocket, caller: HttpCaller) => void;

/** Serves commands over WebSockets, and the pages of the console. */
export function openStreams(
  deps: Omit<SocketDeps, 'commands'>,
  authenticate: Authenticate,
  { serveConsole, ...times }: StreamTimes & { readonly serveConsole?: ServeSocket } = {},
): Streams {
  const stop = async ({ commandId, context }: ResumableCommand) => {
    await (await deps.engine()).stop(commandId, stopSteps, context);
  };
  const commands = createResumableCommands((command) => void stop(command).catch(() => {}), times.expiryMs);
  const hasClient = ({ attached, ended }: ResumableCommand) => attached !== undefined && !ended;
  const upgrades = acceptUpgrades(
    { authenticate, isClosing: deps.isClosing },
    {
      [streamPath]: (socket, caller) => serveSocket({ ...deps, commands }, socket, caller),
      ...(serveConsole && { [consolePath]: serveConsole }),
    },
    times.pingMs,
  );
  return {
    attach: upgrades.attach,
    // A terminal ends only when its user leaves it, so shutdown does not wait for one.
    countOpen: () => commands.list().filter((command) => hasClient(command) && !command.isEndless).length,
    async close() {
      await Promise.allSettled(commands.list().map(stop));
      for (let waitedMs = 0; commands.list().some(hasClient) && waitedMs < lastMessagesMs; waitedMs += 20)
        await sleep(20);
      await upgrades.close();
      commands.close();
    },
  };
}
