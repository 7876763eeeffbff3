import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A connection to a port of this machine that can be cut and joined again. */
export interface Cut {
  /** The argument that makes Chromium use it, with the port's own name. */
  readonly browserArg: string;
  /** Closes every connection, and refuses new ones. */
  cut(): void;
  join(): void;
  close(): Promise<void>;
}

/** Puts a connection that can be cut before a port. */
export async function createCut(port: number): Promise<Cut> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.destroy();
    const far = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
      socket.pipe(other);
    }
  });
  const closeAll = () => {
    for (const socket of sockets) socket.destroy();
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  return {
    browserArg: `--host-resolver-rules=MAP 127.0.0.1:${port} 127.0.0.1:${own}`,
    cut() {
      isCut = true;
      closeAll();
    },
    join() {
      isCut = false;
    },
    async close() {
      server.close();
      closeAll();
      await once(server, 'close');
    },
  };
}
