/** A command whose requests a proxy may refuse. */
export interface DeniedCommand {
  /** Resolves when the command can make no more requests. */
  readonly gone: Promise<void>;
  /** True if one of its processes has the connection whose own end is this port of loopback. */
  hasConnection(port: number): Promise<boolean>;
}

// Limits the list for a command that tries many names.
const maxDenied = 32;

interface Watcher {
  readonly command: DeniedCommand;
  readonly hosts: Set<string>;
}

/** The hosts that a proxy has refused, by the command that asked for them. */
export class DeniedHosts {
  readonly #watchers = new Set<Watcher>();

  /** Returns a function that lists the hosts refused to a command, as `host:port`; after the first 32 only `and others`. */
  watch(command: DeniedCommand): () => readonly string[] {
    const watcher = { command, hosts: new Set<string>() };
    this.#watchers.add(watcher);
    void command.gone.then(() => this.#watchers.delete(watcher));
    return () => [...watcher.hosts];
  }

  /** Adds a host to the command that has the connection or, if its process cannot be found, to all that run. */
  async add(host: string, port: number | undefined): Promise<void> {
    const running = [...this.#watchers];
    const owners = running.length > 1 ? await findOwners(running, port) : [];
    for (const { hosts } of owners.length > 0 ? owners : running)
      hosts.add(hosts.size < maxDenied ? host : 'and others');
  }
}

async function findOwners(
  watchers: readonly Watcher[],
  port: number | undefined,
): Promise<readonly Watcher[]> {
  if (port === undefined) return [];
  const found = await Promise.all(
    watchers.map(({ command }) => command.hasConnection(port).catch(() => false)),
  );
  return watchers.filter((_, index) => found[index]);
}
