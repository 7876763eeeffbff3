import type { Backend } from '../../contract/backend.ts';
import { logOf, tail } from '../../support/tail.ts';
import { sleep } from '../../support/timing.ts';

/** A background command has started (`began`), or its output or state has `changed`. */
export interface CommandEvent {
  readonly kind: 'began' | 'changed';
  readonly id: string;
}

/** Notifies owners about their background commands. */
export interface Announcer {
  /** Calls `listener` for the owner's commands that start from now on; the returned function unsubscribes. */
  listen(owner: string, listener: (event: CommandEvent) => void): () => void;
  /** Announces a command and every growth of its log until its end, if `owner` has a listener. */
  follow(owner: string, id: string): void;
}

const waitMs = 60_000;
// Listeners read the command after every event; more events per second would only cost CPU time.
const minIntervalMs = 500;
// Only the growth of the log matters, so `tail` skips every byte.
const noBytes = { waitMs, maxBytes: 0, maxLagBytes: 0 };

/** Creates an announcer for the commands of a backend. */
export function createAnnouncer(backend: Pick<Backend, 'read'>): Announcer {
  const listeners = new Map<string, Set<(event: CommandEvent) => void>>();
  const announce = (owner: string, event: CommandEvent) => {
    for (const listener of listeners.get(owner) ?? []) listener(event);
  };
  const followToEnd = async (owner: string, id: string) => {
    announce(owner, { kind: 'began', id });
    for await (const { from, next, isLast } of tail(logOf(backend, id), 0, noBytes)) {
      if (next > from || isLast) announce(owner, { kind: 'changed', id });
      if (!isLast) await sleep(minIntervalMs);
    }
  };

  return {
    listen(owner, listener) {
      const own = listeners.get(owner) ?? new Set();
      listeners.set(owner, own.add(listener));
      return () => {
        own.delete(listener);
        if (own.size === 0) listeners.delete(owner);
      };
    },
    follow(owner, id) {
      // `read` rejects once the command is forgotten.
      if (listeners.has(owner)) followToEnd(owner, id).catch(() => {});
    },
  };
}
