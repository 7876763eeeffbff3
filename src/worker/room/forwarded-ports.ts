import { createServer, type Server, type Socket } from 'node:net';
import { NacreError } from '../../contract/failure.ts';
import type { ForwardedPort } from '../../contract/port.ts';
import type { Environment } from '../machine/environment.ts';
import { pipeAll } from '../network/tunnel.ts';
import type { Room } from './room.ts';
import { RoomConnector } from './room-connector.ts';
import type { RoomNetwork } from './room-network.ts';

interface Forwarding extends ForwardedPort {
  readonly server: Server;
  readonly sockets: Set<Socket>;
  readonly inRoom: Room;
}

const maxConnections = 256;

/** The ports of rooms that are open on 127.0.0.1, by their port there. */
export class ForwardedPorts {
  readonly #env: Environment;
  readonly #open = new Map<number, Forwarding>();
  readonly #connectors = new Map<Room, RoomConnector>();

  constructor(env: Environment) {
    this.#env = env;
  }

  list(room: string): readonly ForwardedPort[] {
    return [...this.#open.values()].filter((one) => one.room === room).map(toForwardedPort);
  }

  /** Opens a port of a room; throws if the port of 127.0.0.1 is in use. */
  async open(inRoom: Room, requested: ForwardedPort): Promise<ForwardedPort> {
    const network = await inRoom.openedNetwork();
    if (!network) throw notListening(requested.port);
    const connect = () => this.#connectorFor(inRoom, network).connect(requested.port);
    const sockets = new Set<Socket>();
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) =>
      relay(client, connect(), sockets),
    );
    server.maxConnections = maxConnections;
    try {
      await listen(server, requested.hostPort);
    } catch (error) {
      throw cannotListen(requested, error as NodeJS.ErrnoException);
    }
    this.#open.set(requested.hostPort, { ...requested, server, sockets, inRoom });
    this.#connectorFor(inRoom, network);
    return requested;
  }

  /** Closes a port with its connections; undefined if it is not open. */
  async close(hostPort: number): Promise<ForwardedPort | undefined> {
    const found = this.#open.get(hostPort);
    if (!found) return undefined;
    this.#open.delete(hostPort);
    for (const socket of found.sockets) socket.destroy();
    await new Promise((resolve) => found.server.close(resolve));
    await this.#closeIfUnused(found.inRoom);
    return toForwardedPort(found);
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((hostPort) => this.close(hostPort)));
  }

  #connectorFor(room: Room, network: RoomNetwork): RoomConnector {
    const known = this.#connectors.get(room);
    if (known?.isAlive) return known;
    const connector = new RoomConnector(network, this.#env);
    this.#connectors.set(room, connector);
    return connector;
  }

  async #closeIfUnused(room: Room): Promise<void> {
    if ([...this.#open.values()].some(({ inRoom }) => inRoom === room)) return;
    const connector = this.#connectors.get(room);
    this.#connectors.delete(room);
    await connector?.close();
  }
}

function toForwardedPort({ room, port, hostPort }: ForwardedPort): ForwardedPort {
  return { room, port, hostPort };
}

function relay(client: Socket, connecting: Promise<Socket>, sockets: Set<Socket>): void {
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy()).once('close', () => sockets.delete(socket));
  };
  track(client);
  connecting.then(
    (server) => {
      server.allowHalfOpen = true;
      track(server);
      if (client.destroyed) return void server.destroy();
      pipeAll(client, server);
      pipeAll(server, client);
    },
    // A client sees the same reset as if nothing listened on the port.
    () => client.resetAndDestroy(),
  );
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    // This listener stays: a later `error` (EMFILE in `accept`) costs one connection, but unhandled it would crash the
    // server.
    server.on('error', reject);
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => resolve());
    // An open port alone does not keep the process alive.
    server.unref();
  });
}

function notListening(port: number): NacreError {
  return new NacreError('invalid_request', `No sandboxed command listens on port ${port}.`, {
    hint: 'Start the server first; nacre port lists the ports that commands listen on.',
  });
}

function cannotListen(
  { port, hostPort }: ForwardedPort,
  { code, message }: NodeJS.ErrnoException,
): NacreError {
  const reason =
    code === 'EADDRINUSE' ? 'is in use' : code === 'EACCES' ? 'needs root' : `failed: ${message}`;
  return new NacreError('invalid_request', `Port ${hostPort} of 127.0.0.1 ${reason}.`, {
    hint: `Choose another one with --to, such as nacre port ${port} --to ${hostPort + 10_000 > 65_535 ? 8_080 : hostPort + 10_000}.`,
  });
}
