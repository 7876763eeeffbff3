import type { WebSocket } from 'ws';

/** Pauses a socket while too many of its messages are still being handled. */
export interface Intake {
  /** Counts a message of this size until `handled` settles. */
  hold(bytes: number, handled: Promise<unknown>): void;
}

/** The maximum bytes of one client's messages that are being handled. */
const maxPendingBytes = 1_048_576;
// The cost of a message in addition to its bytes, so that small messages are bounded as well.
const messageBytes = 1_024;

/** Creates the intake of a socket and replies to its pings. */
export function createIntake(socket: WebSocket): Intake {
  let pendingBytes = 0;
  const count = (bytes: number) => {
    pendingBytes += bytes;
    if (pendingBytes > maxPendingBytes) socket.pause();
    else if (socket.isPaused) socket.resume();
  };
  const hold = (bytes: number, handled: Promise<unknown>) => {
    count(bytes + messageBytes);
    handled.catch(() => {}).then(() => count(-bytes - messageBytes));
  };
  // With `autoPong`, ws would buffer pongs without limit for a client that does not read.
  socket.on('ping', (data) => {
    hold(data.length, new Promise<void>((done) => socket.pong(data, false, () => done())));
  });
  return { hold };
}
