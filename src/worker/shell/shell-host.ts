import { Socket } from 'node:net';
import { createDeferred, type Deferred } from '../../support/deferred.ts';
import { randomHex } from '../../support/random-hex.ts';
import { within } from '../../support/within.ts';
import { captureStream } from '../io/capture.ts';
import { writeAtomically } from '../io/write-pipe.ts';
import { toInputFile } from '../look/find-reader.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ProcessExit } from '../start/start-process.ts';
import type { Started } from '../start/starter.ts';
import {
  type ShellOrder,
  type Telling,
  toAgainWord,
  toKeyWord,
  toNonce,
  toShellOrder,
} from './shell-script.ts';
import { createStatusReader, type PrintedState, type ShellDone } from './shell-status.ts';
import { endShell, findShell } from './shell-tree.ts';
import { watchForWaiting } from './watch-for-waiting.ts';

/** How an order ended: the shell says so, or the shell itself has ended. */
export type ShellAnswer =
  | { readonly kind: 'done'; readonly done: ShellDone }
  | { readonly kind: 'gone'; readonly exit: ProcessExit };

/** A session's first process, with a shell below it. */
export interface ShellHost {
  readonly started: Started;
  /** Gives the shell one order, once it is done with the one before. */
  give(order: Omit<ShellOrder, 'nonce'>, telling: Telling): Promise<ShellAnswer>;
  /** What the shell printed of itself after its last order; null when it ended instead. */
  state(): Promise<PrintedState | null>;
  /** Ends the shell by force, whatever it does; the order that it was given has then an answer. */
  endShell(): Promise<void>;
  /** Has another shell started in the place of one that has ended. */
  again(): void;
  /** True while the first process lives. */
  lives(): boolean;
  /** False once its shell has ended, even if nobody had given it an order, until another was started. */
  hasShell(): boolean;
  close(): Promise<void>;
}

interface Awaited {
  readonly nonce: string;
  readonly answer: Deferred<ShellAnswer>;
  unwatch(): void;
}

/** Takes charge of a host that was just started. */
export function createShellHost(started: Started, table: ProcessTable): ShellHost {
  const { process, tree } = started;
  const key = randomHex(16);
  let living = true;
  let awaited: Awaited | null = null;
  let state = createDeferred<PrintedState | null>();
  const answerWith = (answer: ShellAnswer) => {
    const asked = awaited;
    awaited = null;
    asked?.unwatch();
    asked?.answer.resolve(answer);
  };
  let goneHeard = createDeferred<void>();
  let hasShell = true;
  const gone = (exit: ProcessExit) => {
    hasShell = false;
    goneHeard.resolve();
    goneHeard = createDeferred();
    state.resolve(null);
    answerWith({ kind: 'gone', exit });
  };

  const orders = new Socket({ fd: process.stdin ?? -1, readable: false, writable: true });
  orders.on('error', () => {});
  const close = async () => {
    orders.end();
    await tree.end({ signal: 'SIGTERM', graceMs: closeGraceMs });
    if (await within(process.exited, exitMs)) return;
    // A process in uninterruptible sleep survives SIGKILL: do not wait for it, and do not use it again.
    living = false;
    gone(byForce);
  };
  const end = async () => {
    if (!hasShell) return;
    const found = await findShell({ table, session: tree });
    const heard = goneHeard.promise;
    endShell(found);
    // Until its parent has said so, orders would still be read by the one that dies.
    if (!(await within(heard, goneMs))) await close();
  };
  const listener = {
    isAwaited: (nonce: string) => nonce === awaited?.nonce,
    onDone: (done: ShellDone) => answerWith({ kind: 'done', done }),
    onState: (printed: PrintedState) => state.resolve(printed),
    onGone: (code: number) => gone({ code, signal: null }),
    onNonsense: () => void end(),
  };
  const status = captureStream(process.stdout, createStatusReader(listener, key));
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
  orders.write(toKeyWord(key));
  const fd = process.stdin ?? -1;
  const pipe = toInputFile(fd);

  return {
    started,
    async give(order, telling) {
      if (!hasShell) return { kind: 'gone', exit: byForce };
      const nonce = toNonce(randomHex(4), telling);
      const answer = createDeferred<ShellAnswer>();
      // A shell that asks for its next order has not understood that it owes us an answer.
      const unwatch = watchForWaiting(tree.pid, pipe, () => {
        // The answer may be there, and we were too busy to read it.
        status.drain();
        if (awaited?.nonce === nonce) void end();
      });
      awaited = { nonce, answer, unwatch };
      state = createDeferred();
      send(fd, orders, toShellOrder({ ...order, nonce }));
      return answer.promise;
    },
    state: () => state.promise,
    endShell: end,
    again() {
      hasShell = living;
      orders.write(toAgainWord(key));
    },
    lives: () => living,
    hasShell: () => hasShell,
    close,
  };
}

// What is written at once needs no callback that has to come.
function send(fd: number, orders: Socket, text: string): void {
  if (orders.writableLength > 0 || !writeAtomically(fd, text)) orders.write(text);
}

const byForce: ProcessExit = { code: null, signal: 'SIGKILL' };
// A host that does not tell of its shell's end by then cannot do so.
const goneMs = 2_000;
// How long `close` waits for the exit of a first process that was killed.
const exitMs = 5_000;
// What a session has in the background gets a moment to end politely.
const closeGraceMs = 200;
