import type { Server } from 'node:http';
import { pause } from '../../../support/pause.ts';
import type { Authenticate } from '../authenticate.ts';
import type { AppParts } from '../create-app.ts';
import { acceptUpgrades } from './accept-upgrades.ts';
import { createKeptCommands, type KeptCommand } from './kept-commands.ts';
import { serveSocket } from './serve-socket.ts';

/** What comes over WebSockets. */
export interface Streams {
  /** From now on also at this server. */
  attach(server: Server): void;
  /** How many commands somebody waits for who hears of their end. */
  waitedFor(): number;
  /** Ends every command, lets clients know what became of theirs, and closes their sockets. */
  close(): Promise<void>;
}

const ladder = { signal: 'SIGTERM', graceMs: 2_000 } as const;
const lastWordsMs = 1_000;

/** Serves what comes over WebSockets; a command that nobody came back to is ended. */
export function openStreams(
  parts: Pick<AppParts, 'engine' | 'refresh' | 'isClosing' | 'log' | 'history'>,
  authenticate: Authenticate,
  patience: { readonly keptMs?: number; readonly pingMs?: number } = {},
): Streams {
  const end = async ({ commandId, asker }: KeptCommand) => {
    await (await parts.engine()).stop(commandId, ladder, asker);
  };
  const kept = createKeptCommands((command) => void end(command).catch(() => {}), patience.keptMs);
  const isTold = ({ attached, ended }: KeptCommand) => attached !== undefined && !ended;
  const upgrades = acceptUpgrades(
    { authenticate, isClosing: parts.isClosing },
    (socket, caller) => serveSocket({ ...parts, kept }, socket, caller),
    patience.pingMs,
  );
  return {
    attach: upgrades.attach,
    // A terminal ends when somebody leaves it, which is nothing to wait for.
    waitedFor: () => kept.list().filter((command) => isTold(command) && !command.isEndless).length,
    async close() {
      await Promise.allSettled(kept.list().map(end));
      for (let waitedMs = 0; kept.list().some(isTold) && waitedMs < lastWordsMs; waitedMs += 20)
        await pause(20);
      await upgrades.close();
      kept.close();
    },
  };
}
