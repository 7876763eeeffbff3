/** The clients that use a server, for `nacre status`. */
export interface ConnectedClients {
  /**
   * Adds a client. Without a `connection` that can end, it counts as connected for `quietMs` after its last request.
   */
  seen(name: string, connection?: string): void;
  /** Removes the client of a connection that has ended. */
  left(connection: string): void;
  /** The names of the connected clients, each once, sorted. */
  names(): readonly string[];
}

const quietMs = 600_000;
// Clients choose their names, so a client could send a new one with every request.
const maxNames = 100;

/** Creates an empty list. */
export function createConnectedClients(now = () => performance.now()): ConnectedClients {
  const connections = new Map<string, string>();
  const seenAt = new Map<string, number>();
  return {
    seen(name, connection) {
      if (connection !== undefined) connections.set(connection, name);
      else if (seenAt.has(name) || seenAt.size < maxNames) seenAt.set(name, now());
    },
    left: (connection) => void connections.delete(connection),
    names() {
      for (const [name, time] of seenAt) if (now() - time > quietMs) seenAt.delete(name);
      return [...new Set([...connections.values(), ...seenAt.keys()])].sort();
    },
  };
}
