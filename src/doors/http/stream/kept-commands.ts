import type { PumpedCommand } from './pump.ts';

/** A command that a client can come back to. */
export interface KeptCommand extends PumpedCommand {
  /** Ends the telling to whichever socket has it now. */
  attached: AbortController | undefined;
  timer: NodeJS.Timeout | undefined;
  ended: boolean;
}

/** The commands that came over sockets, by who asked and by what the client calls them. */
export interface KeptCommands {
  /** Makes room for a command; false when that caller has one of this name. */
  reserve(owner: string, id: string): boolean;
  add(command: PumpedCommand): KeptCommand;
  release(owner: string, id: string): void;
  find(owner: string, id: string): KeptCommand | undefined;
  list(): readonly KeptCommand[];
  /** Somebody listens again. */
  hold(command: KeptCommand): void;
  /** Nobody listens any more: after a time the command is ended and forgotten. */
  lose(command: KeptCommand): void;
  close(): void;
}

/** How long a command outlives its socket, and how long its end can be asked for again. */
const keptMs = 60_000;

/** Makes an empty book; `end` ends a command whose time is over. */
export function createKeptCommands(end: (command: KeptCommand) => void, lastsMs = keptMs): KeptCommands {
  const kept = new Map<string, KeptCommand | null>();
  const key = (owner: string, id: string) => `${owner}\n${id}`;
  return {
    reserve(owner, id) {
      const known = kept.get(key(owner, id));
      if (known === null || (known && !known.ended)) return false;
      clearTimeout(known?.timer);
      kept.set(key(owner, id), null);
      return true;
    },
    add(command) {
      const one: KeptCommand = { ...command, attached: undefined, timer: undefined, ended: false };
      kept.set(key(command.asker.owner, command.id), one);
      return one;
    },
    release: (owner, id) => void kept.delete(key(owner, id)),
    find: (owner, id) => kept.get(key(owner, id)) ?? undefined,
    list: () => [...kept.values()].filter((command) => command !== null),
    hold: ({ timer }) => clearTimeout(timer),
    lose(command) {
      clearTimeout(command.timer);
      const forget = () => {
        const own = key(command.asker.owner, command.id);
        if (kept.get(own) === command) kept.delete(own);
        command.done('stopped');
        if (!command.ended) end(command);
      };
      command.timer = setTimeout(forget, lastsMs).unref();
    },
    close() {
      for (const command of kept.values()) clearTimeout(command?.timer);
      kept.clear();
    },
  };
}
