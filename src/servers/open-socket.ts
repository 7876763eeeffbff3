import { connect, type Socket } from 'node:net';
import { toSocketAddress } from '../support/socket-address.ts';

/** Connects to the control socket of a server; rejects with the error of connect(). */
export function openSocket(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const { address, release } = toSocketAddress(path);
    const socket = connect(address, () => resolve(socket));
    for (const event of ['connect', 'close'] as const) socket.once(event, release);
    socket.on('error', reject);
  });
}
