import { connect } from 'node:net';

/** All text received over a connection, and the status of the first response, or 0 if there was none. */
export interface RawReply {
  readonly text: string;
  readonly status: number;
}

/** Options of `sendBytes`. */
export interface SendOptions {
  readonly idleMs?: number;
  readonly isComplete?: (text: string) => boolean;
}

/** Sends raw bytes; resolves when the server closes the connection, `isComplete` returns true, or after `idleMs` without data. */
export function sendBytes(
  port: number,
  bytes: string | Uint8Array,
  { idleMs = 3_000, isComplete }: SendOptions = {},
): Promise<RawReply> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    const done = () => {
      socket.destroy();
      resolve({ text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0) });
    };
    socket.setTimeout(idleMs, done);
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (isComplete?.(text)) done();
    });
    socket.on('error', done);
    socket.on('close', done);
    // `write`, not `end`: the server treats a half-closed connection as gone.
    socket.write(bytes);
  });
}
