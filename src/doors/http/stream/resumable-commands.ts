import type { StreamedCommand } from './pump.ts';

/** A command that a client can return to after it lost its socket. */
export interface ResumableCommand extends StreamedCommand {
  /** Stops the streaming to the socket that the command is attached to. */
  attached: AbortController | undefined;
  expiry: NodeJS.Timeout | undefined;
  /** True once the client has received the end. */
  ended: boolean;
}

/** The commands started over sockets, by owner and by the client's id. */
export interface ResumableCommands {
  /** Claims an id; false if a command of this owner is using it. */
  reserve(owner: string, id: string): boolean;
  add(command: StreamedCommand): ResumableCommand;
  release(owner: string, id: string): void;
  find(owner: string, id: string): ResumableCommand | undefined;
  list(): readonly ResumableCommand[];
  /** Cancels the expiry, since a socket has the command. */
  keep(command: ResumableCommand): void;
  /** Starts the expiry, since no socket has the command: it is forgotten, and ended if it still runs. */
  expire(command: ResumableCommand): void;
  close(): void;
}

/** How long a command outlives its socket, and how long its end can still be requested. */
const defaultExpiryMs = 60_000;

/** Creates an empty collection; `end` ends a command that has expired. */
export function createResumableCommands(
  end: (command: ResumableCommand) => void,
  expiryMs = defaultExpiryMs,
): ResumableCommands {
  // `null` is an id that is reserved for a command which is starting.
  const commands = new Map<string, ResumableCommand | null>();
  const key = (owner: string, id: string) => `${owner}\n${id}`;
  return {
    reserve(owner, id) {
      const known = commands.get(key(owner, id));
      if (known === null || (known && !known.ended)) return false;
      clearTimeout(known?.expiry);
      commands.set(key(owner, id), null);
      return true;
    },
    add(command) {
      const added: ResumableCommand = { ...command, attached: undefined, expiry: undefined, ended: false };
      commands.set(key(command.context.owner, command.id), added);
      return added;
    },
    release: (owner, id) => void commands.delete(key(owner, id)),
    find: (owner, id) => commands.get(key(owner, id)) ?? undefined,
    list: () => [...commands.values()].filter((command) => command !== null),
    keep: ({ expiry }) => clearTimeout(expiry),
    expire(command) {
      clearTimeout(command.expiry);
      const forget = () => {
        const own = key(command.context.owner, command.id);
        if (commands.get(own) === command) commands.delete(own);
        if (!command.ended) end(command);
      };
      command.expiry = setTimeout(forget, expiryMs).unref();
    },
    close() {
      for (const command of commands.values()) clearTimeout(command?.expiry);
      commands.clear();
    },
  };
}
