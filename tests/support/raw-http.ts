import { connect } from 'node:net';

/** What came back over a connection: all of its text, and the status of the first answer, 0 when there was none. */
export interface RawReply {
  readonly text: string;
  readonly status: number;
}

/** How bytes are sent. */
export interface SendOptions {
  readonly patienceMs?: number;
  readonly isOver?: (text: string) => boolean;
}

/** Sends bytes as they are; resolves when the server closes the connection, or after a while in which nothing came. */
export function sendBytes(
  port: number,
  bytes: string | Uint8Array,
  { patienceMs = 3_000, isOver }: SendOptions = {},
): Promise<RawReply> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1');
    const done = () => {
      socket.destroy();
      resolve({ text, status: Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0) });
    };
    socket.setTimeout(patienceMs, done);
    socket.on('data', (data) => {
      text += data.toString('latin1');
      if (isOver?.(text)) done();
    });
    socket.on('error', done);
    socket.on('close', done);
    // Whoever says that nothing follows is taken for gone.
    socket.write(bytes);
  });
}
