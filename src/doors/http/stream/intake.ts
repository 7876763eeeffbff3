import type { WebSocket } from 'ws';

/** Reads from a socket no faster than what comes over it is dealt with. */
export interface Intake {
  /** Counts what came until it has been dealt with: while too much is under way, the socket is not read. */
  hold(bytes: number, dealtWith: Promise<unknown>): void;
}

/** How much of one client may be under way. */
const mostBytes = 1_048_576;
// What a message costs beside its bytes.
const messageBytes = 1_024;

/** Begins to answer pings; whatever else comes is held by whoever deals with it. */
export function createIntake(socket: WebSocket): Intake {
  let underWay = 0;
  const count = (bytes: number) => {
    underWay += bytes;
    if (underWay > mostBytes) socket.pause();
    else if (socket.isPaused) socket.resume();
  };
  const hold = (bytes: number, dealtWith: Promise<unknown>) => {
    count(bytes + messageBytes);
    dealtWith.catch(() => {}).then(() => count(-bytes - messageBytes));
  };
  // ws itself would answer however many answers a client has not taken yet.
  socket.on('ping', (data) => {
    hold(data.length, new Promise<void>((done) => socket.pong(data, false, () => done())));
  });
  return { hold };
}
