import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { createDeferred, type Deferred } from '../../support/deferred.ts';
import { captureStream } from '../capture.ts';
import type { ProcessExit } from '../start-process.ts';
import type { Started } from '../starter.ts';
import { againWord, type ShellOrder, toShellOrder } from './shell-script.ts';
import { createStatusReader, type PrintedState, type ShellDone } from './shell-status.ts';

/** How an order ended: the shell says so, or the shell itself has ended. */
export type ShellAnswer =
  | { readonly kind: 'done'; readonly done: ShellDone }
  | { readonly kind: 'gone'; readonly exit: ProcessExit };

/** A session's first process, with a shell below it. */
export interface ShellHost {
  readonly started: Started;
  /** Gives the shell one order, once it is done with the one before. */
  give(order: Omit<ShellOrder, 'nonce'>): Promise<ShellAnswer>;
  /** What the shell printed of itself after its last order; null when it ended instead. */
  state(): Promise<PrintedState | null>;
  /** Has another shell started in the place of one that has ended. */
  again(): void;
  /** True while the first process lives. */
  lives(): boolean;
  close(): Promise<void>;
}

interface Awaited {
  readonly nonce: string;
  readonly answer: Deferred<ShellAnswer>;
}

/** Takes charge of a host that was just started. */
export function createShellHost(started: Started): ShellHost {
  const { process, tree } = started;
  let living = true;
  let awaited: Awaited | null = null;
  let state = createDeferred<PrintedState | null>();
  const answerWith = (answer: ShellAnswer) => {
    const { answer: asked } = awaited ?? {};
    awaited = null;
    asked?.resolve(answer);
  };
  const gone = (exit: ProcessExit) => {
    state.resolve(null);
    answerWith({ kind: 'gone', exit });
  };

  const orders = new Socket({ fd: process.stdin ?? -1, readable: false, writable: true });
  orders.on('error', () => {});
  const read = createStatusReader({
    onDone: (nonce, done) => {
      if (nonce === awaited?.nonce) answerWith({ kind: 'done', done });
    },
    onState: (printed) => state.resolve(printed),
    onGone: (status) => gone({ code: status, signal: null }),
  });
  const status = captureStream(process.stdout, read);
  const words = captureStream(process.stderr, () => true);
  // Without its descriptor the shell cannot answer any more: it ends when there are no more orders.
  void status.ended.then(() => orders.end());
  void process.exited.then((exit) => {
    living = false;
    status.drain();
    gone(exit);
    for (const stream of [status, words]) stream.close();
    orders.destroy();
    tree.release();
    started.watch.end();
    started.watch.release();
  });
  if (process.order !== undefined) orders.write(process.order);

  return {
    started,
    async give(order) {
      if (!living) return { kind: 'gone', exit: { code: null, signal: 'SIGKILL' } };
      const nonce = randomBytes(4).toString('hex');
      const answer = createDeferred<ShellAnswer>();
      awaited = { nonce, answer };
      state = createDeferred();
      orders.write(toShellOrder({ ...order, nonce }));
      return answer.promise;
    },
    state: () => state.promise,
    again: () => orders.write(againWord),
    lives: () => living,
    async close() {
      orders.end();
      await tree.end({ signal: 'SIGTERM', graceMs: closeGraceMs });
      await process.exited;
    },
  };
}

// What a session has in the background gets a moment to end politely.
const closeGraceMs = 200;
