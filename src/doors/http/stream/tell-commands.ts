import type { WebSocket } from 'ws';
import type { Cursor } from '../../../contract/job.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { KeptCommand, KeptCommands } from './kept-commands.ts';
import { type Outlet, pump } from './pump.ts';

/** Tells a socket what its commands write. */
export interface TellCommands {
  /** Tells a command from a position to its end, or until the socket closes or another one takes the command up. */
  tell(command: KeptCommand, from: Cursor): Promise<void>;
  /** Nobody listens here any more. */
  close(): void;
}

/** Makes it for one socket. */
export function createTellCommands(
  { engine, kept }: { readonly engine: () => Promise<Engine>; readonly kept: KeptCommands },
  socket: WebSocket,
  send: Outlet,
): TellCommands {
  const own = new Set<KeptCommand>();
  const attach = (command: KeptCommand) => {
    kept.hold(command);
    command.attached?.abort();
    const attached = new AbortController();
    command.attached = attached;
    own.add(command);
    return attached;
  };
  const detach = (command: KeptCommand) => {
    own.delete(command);
    command.attached = undefined;
    kept.lose(command);
  };
  return {
    async tell(command, from) {
      // A socket that closed while its command was started does not say so again.
      if (socket.readyState !== socket.OPEN) return kept.lose(command);
      const { id, commandId } = command;
      const attached = attach(command);
      try {
        // Only now: what an earlier telling still sends would otherwise come behind the start and once more.
        await send({ type: 'shell.start', id, command_id: commandId, cursor: from });
        const isTold = await pump(await engine(), command, from, { send, signal: attached.signal });
        command.ended ||= isTold;
      } finally {
        if (command.attached === attached) detach(command);
      }
    },
    close() {
      for (const command of own) {
        command.attached?.abort();
        detach(command);
      }
    },
  };
}
