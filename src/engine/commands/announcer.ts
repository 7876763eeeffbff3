import type { Backend } from '../../contract/backend.ts';
import { pause } from '../../support/pause.ts';

/** Something that happened to a command that goes on: it is there now, or there is more of it to read. */
export interface CommandEvent {
  readonly kind: 'began' | 'changed';
  readonly id: string;
}

/** Tells owners what becomes of their commands. */
export interface Announcer {
  /** Tells a listener about commands that begin from now on; what it returns ends that. */
  listen(owner: string, listener: (event: CommandEvent) => void): () => void;
  /** Follows a command to its end, where somebody listens. */
  follow(owner: string, id: string): void;
}

const waitMs = 60_000;
// Whoever is told of a change comes and reads; more often than this would be of no use to anybody.
const restMs = 500;

/** Makes an announcer for the commands of a backend. */
export function createAnnouncer(backend: Pick<Backend, 'read'>): Announcer {
  const listeners = new Map<string, Set<(event: CommandEvent) => void>>();
  const tell = (owner: string, event: CommandEvent) => {
    for (const listener of listeners.get(owner) ?? []) listener(event);
  };
  const followToEnd = async (owner: string, id: string) => {
    tell(owner, { kind: 'began', id });
    for (let at = 0; ; ) {
      const { end, final } = await backend.read(id, at, { waitMs, maxBytes: 0 });
      if (end > at || final) tell(owner, { kind: 'changed', id });
      if (final) return;
      at = end;
      await pause(restMs);
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
      // A command that is forgotten has nothing to tell.
      if (listeners.has(owner)) followToEnd(owner, id).catch(() => {});
    },
  };
}
