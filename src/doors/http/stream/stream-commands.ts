import type { WebSocket } from 'ws';
import type { Cursor } from '../../../contract/job.ts';
import type { Engine } from '../../../engine/engine.ts';
import { pump, type SendMessage } from './pump.ts';
import type { ResumableCommand, ResumableCommands } from './resumable-commands.ts';

/** Streams the output of commands to one socket. */
export interface SocketStreams {
  /** Streams a command from a cursor until its end, or until the socket closes or another one resumes the command. */
  stream(command: ResumableCommand, from: Cursor): Promise<void>;
  /** Detaches every command, since the socket has closed. */
  close(): void;
}

/** Creates the streams of one socket. */
export function createSocketStreams(
  { engine, commands }: { readonly engine: () => Promise<Engine>; readonly commands: ResumableCommands },
  socket: WebSocket,
  send: SendMessage,
): SocketStreams {
  const own = new Set<ResumableCommand>();
  const attach = (command: ResumableCommand) => {
    commands.keep(command);
    command.attached?.abort();
    const attached = new AbortController();
    command.attached = attached;
    own.add(command);
    return attached;
  };
  const detach = (command: ResumableCommand) => {
    own.delete(command);
    command.attached = undefined;
    commands.expire(command);
  };
  return {
    async stream(command, from) {
      // The `close` event of a socket that closed while its command was starting has passed.
      if (socket.readyState !== socket.OPEN) return commands.expire(command);
      const { id, commandId } = command;
      const attached = attach(command);
      try {
        // `shell.start` is sent after `attach` has aborted an earlier stream, which would otherwise repeat output after
        // this message.
        await send({ type: 'shell.start', id, command_id: commandId, cursor: from });
        const isEnd = await pump(await engine(), command, from, { send, signal: attached.signal });
        command.ended ||= isEnd;
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
