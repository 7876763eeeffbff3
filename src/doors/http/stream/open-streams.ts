import type { Assembly } from '../../door.ts';
import type { Authenticate } from '../authenticate.ts';
import type { HttpCaller } from '../callers.ts';
import type { AppParts } from '../create-app.ts';
import { acceptUpgrades, type Upgrades } from './accept-upgrades.ts';
import { createKeptCommands, type KeptCommand } from './kept-commands.ts';
import { serveSocket } from './serve-socket.ts';

const ladder = { signal: 'SIGTERM', graceMs: 2_000 } as const;

/** Serves what comes over WebSockets; a command that nobody came back to is ended. */
export function openStreams(
  { terminalRules, http }: Pick<Assembly, 'terminalRules' | 'http'>,
  parts: Pick<AppParts, 'engine' | 'refresh' | 'isClosing' | 'log' | 'history'>,
  authenticate: Authenticate,
  patience: { readonly keptMs?: number; readonly pingMs?: number } = {},
): Upgrades {
  const end = async ({ commandId, asker }: KeptCommand) => {
    await (await parts.engine()).stop(commandId, ladder, asker);
  };
  const kept = createKeptCommands((command) => void end(command).catch(() => {}), patience.keptMs);
  const atTerminal = (program: string, { programs }: HttpCaller) =>
    http.terminalShells.includes(program) && (programs?.includes(program) ?? true)
      ? terminalRules()
      : undefined;
  const socketParts = { ...parts, kept, terminalRules: atTerminal };
  const upgrades = acceptUpgrades(
    authenticate,
    (socket, caller) => serveSocket(socketParts, socket, caller),
    patience.pingMs,
  );
  return {
    attach: upgrades.attach,
    close() {
      upgrades.close();
      kept.close();
    },
  };
}
