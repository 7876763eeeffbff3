import { renameSync } from 'node:fs';
import type { Server } from 'node:net';
import { toSocketAddress } from './socket-address.ts';

/**
 * Listens on a Unix socket that is renamed to `path` after listen(): before that, connect() would fail, and another process would
 * mistake the socket for one that a killed server left behind. `prepare` gets the path that the socket has until then. If
 * listen() fails, `server` emits `error`.
 */
export function listenAt(server: Server, path: string, prepare: (draft: string) => void = () => {}): void {
  const draft = `${path}.new`;
  const { address, release } = toSocketAddress(draft);
  try {
    server.listen(address);
  } finally {
    release();
  }
  if (!server.listening) return;
  prepare(draft);
  renameSync(draft, path);
}
