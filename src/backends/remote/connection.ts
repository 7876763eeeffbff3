// The near side's stream to a worker:
// 1. the first call opens it: the road finds or starts the worker, `hello` names the jobs that the near side knows,
// 2. if it breaks, it is reopened as long as jobs or calls need it; unanswered calls are sent again with the same
//    numbers,
// 3. if a different worker answers, the first one is gone with its jobs, except those that it kept on disk.
//    Calls that the first one may have executed already, such as `start`, are not sent to the second.
import { NacreError, shuttingDown } from '../../contract/failure.ts';
import type { FarHello, NearHello, WireCalls, WireEvent, WireMethod } from '../../contract/wire.ts';
import {
  createDeferred,
  createNotifier,
  createStopwatch,
  type Deferred,
  settlesWithin,
} from '../../support/timing.ts';
import { type Answer, Peer, StreamClosedError } from '../../wire/peer.ts';
import type { Road } from '../../wire/road.ts';
import { checkHello } from './check-far.ts';

/** Callbacks of a `Connection`. */
export interface ConnectionHandlers {
  hello(epoch: number): NearHello;
  /** Called after each `hello`; `isNew` if a different worker answered. */
  onOpen(hello: FarHello, isNew: boolean): void;
  onEvent(event: WireEvent, raw: readonly Buffer[]): void;
  /** Called when the stream breaks, and with undefined when it is open again. */
  onUnreachable(since: string | undefined): void;
  /** True while the stream must be opened again if it breaks. */
  isNeeded(): boolean;
}

/** The worker was replaced before it answered. It may have executed the call, which is therefore not sent again. */
export class WorkerReplacedError extends NacreError {
  constructor() {
    super('resources_unavailable', 'The worker was replaced by another one before it answered this call.', {
      hint: 'Check whether the call had an effect before you repeat it.',
    });
  }
}

/** The worker became unreachable before it answered. It may have executed the call. */
export class UnansweredError extends NacreError {
  constructor(cause: NacreError) {
    super(cause.code, cause.message, { hint: cause.hint, details: { ...cause.details }, cause });
  }
}

const beatMs = 5_000;
const helloMs = 10_000;
// A call is rejected if no stream to a worker is open within this time.
const patienceMs = 15_000;
const firstDelayMs = 10;
const lastDelayMs = 2_000;
// A stream that breaks within this time counts as a failed attempt, so that a worker cannot make this process open
// streams in a tight loop.
const shortLifeMs = 1_000;
const byeMs = 1_000;
const workerExitMs = 2_000;

// These calls are never sent to a second worker, because the first one may have executed them.
const neverTwice: ReadonlySet<string> = new Set([
  ...['start', 'write', 'applyChanges', 'discardChanges', 'undoChanges', 'openPort'],
]);

// These calls wait for processes to end, or for files to be moved, so they get `slowestMs`.
const slowCalls: ReadonlySet<string> = new Set([
  ...['stop', 'closeSession', 'warmUp', 'applyChanges', 'discardChanges', 'undoChanges', 'shutdown'],
]);
const slowestMs = 180_000;

/** An unanswered call. `Connection.open` waits on one without a method. */
class OpenCall {
  readonly method: WireMethod | undefined;
  readonly words: readonly unknown[];
  readonly raw: readonly Uint8Array[];
  readonly answer: Deferred<Answer> = createDeferred();
  /** The worker to which it was sent last. */
  worker: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  // A worker that closes every stream instead of answering must not keep the call open forever.
  #sentFor: (() => number) | undefined;

  constructor(method?: WireMethod, words: readonly unknown[] = [], raw: readonly Uint8Array[] = []) {
    this.method = method;
    this.words = words;
    this.raw = raw;
    // `answer` may be rejected before anything awaits it.
    this.answer.promise.catch(() => {});
  }

  /** Rejects the call unless it is sent within `ms`. */
  expectStream(ms: number, toError: () => NacreError): void {
    this.stopWaiting();
    this.#timer = setTimeout(() => this.reject(toError()), ms);
  }

  reject(error: NacreError): void {
    this.answer.reject(this.worker === undefined ? error : new UnansweredError(error));
  }

  /** Rejects the call unless it is answered within `ms` after it was sent for the first time. Returns false if they are over. */
  expectAnswer(ms: number): boolean {
    this.stopWaiting();
    this.#sentFor ??= createStopwatch();
    const leftMs = ms - this.#sentFor();
    const giveUp = () => this.reject(noAnswer(this.method ?? ''));
    // A timer of 0 ms would never fire if the worker closes each stream at once.
    if (leftMs > 0) this.#timer = setTimeout(giveUp, leftMs).unref();
    else giveUp();
    return leftMs > 0;
  }

  stopWaiting(): void {
    clearTimeout(this.#timer);
  }
}

/** A stream to a worker that is opened on demand. */
export class Connection {
  readonly #road: Road;
  readonly #handlers: ConnectionHandlers;
  readonly #calls = new Map<number, OpenCall>();
  readonly #called = createNotifier();
  #peer: Peer | null = null;
  #isOpening = false;
  #failure: unknown;
  #worker: string | undefined;
  #epoch = 0;
  #number = 0;
  #isClosed = false;
  #openFor = createStopwatch();
  #shortLives = 0;

  constructor(road: Road, handlers: ConnectionHandlers) {
    this.#road = road;
    this.#handlers = handlers;
  }

  /** True once the stream was opened, and while it is being opened for the first time. */
  get hasBegun(): boolean {
    return this.#worker !== undefined || this.#isOpening;
  }

  get isOpen(): boolean {
    return this.#peer !== null;
  }

  /** How often the stream was opened. */
  get epoch(): number {
    return this.#epoch;
  }

  /** Makes a call; rejects if no worker answers within some seconds. */
  async call<M extends WireMethod>(
    method: M,
    ...words: Parameters<WireCalls[M]>
  ): Promise<ReturnType<WireCalls[M]>> {
    return (await this.send(method, words)).result as ReturnType<WireCalls[M]>;
  }

  /** Makes a call with raw bytes. */
  send(method: WireMethod, words: readonly unknown[], raw: readonly Uint8Array[] = []): Promise<Answer> {
    return this.#await(new OpenCall(method, words, raw));
  }

  /** Makes a call without an answer, if the stream is open. */
  notify<M extends WireMethod>(method: M, ...words: Parameters<WireCalls[M]>): void {
    this.#peer?.notify(method, words);
  }

  /** Writes the calls that were made so far to the stream at once. */
  flush(): void {
    this.#peer?.flush();
  }

  /** Sends pings as long as a job or a call depends on the worker, and opens a stream that has broken. */
  watch(): void {
    if (this.#peer) this.#peer.beat(beatMs);
    else if (!this.#isOpening) void this.#keepOpening();
  }

  async open(): Promise<void> {
    if (!this.#peer) await this.#await(new OpenCall());
  }

  /** Sends `bye`, so that the worker does not wait for another stream, and closes the stream. */
  async close(): Promise<void> {
    let isLast = false;
    const bye =
      this.#peer &&
      this.call('bye').then((ends) => {
        isLast = ends === true;
      });
    this.#isClosed = true;
    if (bye) await settlesWithin(bye, byeMs).catch(() => {});
    this.#called.notifyAll();
    this.#rejectCalls(shuttingDown());
    this.#peer?.close();
    this.#peer = null;
    // A worker that exits after this process becomes a child of PID 1 and, where PID 1 reaps nothing, a zombie.
    if (isLast && this.#road.ended) await settlesWithin(this.#road.ended(), workerExitMs);
  }

  async #await(call: OpenCall): Promise<Answer> {
    if (this.#isClosed) throw shuttingDown();
    this.#number += 1;
    const number = this.#number;
    this.#calls.set(number, call);
    if (this.#peer) this.#transmit(this.#peer, number, call);
    else this.#expectStream(call);
    try {
      return await call.answer.promise;
    } finally {
      call.stopWaiting();
      this.#calls.delete(number);
      if (!this.#isWanted()) this.#peer?.rest();
    }
  }

  #isWanted(): boolean {
    return !this.#isClosed && (this.#calls.size > 0 || this.#handlers.isNeeded());
  }

  #expectStream(call: OpenCall): void {
    const { patienceMs: laterMs = patienceMs, firstPatienceMs = laterMs } = this.#road;
    const ms = this.#worker === undefined ? firstPatienceMs : laterMs;
    call.expectStream(ms, () => noWorker(this.#failure));
    this.#called.notifyAll();
    this.watch();
  }

  #transmit(peer: Peer, number: number, call: OpenCall): void {
    call.stopWaiting();
    const { method, worker } = call;
    if (method === undefined) {
      call.answer.resolve({ result: null, raw: [] });
      return;
    }
    if (worker !== undefined && worker !== this.#worker && neverTwice.has(method)) {
      call.answer.reject(new WorkerReplacedError());
      return;
    }
    call.worker = this.#worker;
    const { answerMs } = this.#road;
    const mostMs = answerMs !== undefined && slowCalls.has(method) ? answerMs + slowestMs : answerMs;
    if (mostMs !== undefined && !call.expectAnswer(mostMs)) return;
    peer.beat(beatMs);
    // A call whose stream breaks is sent again over the next one.
    peer.call(number, method, call.words, call.raw).then(call.answer.resolve, (error: unknown) => {
      if (!(error instanceof StreamClosedError)) call.answer.reject(error);
    });
  }

  // Retries until the stream is open or not needed any more. Calls wait for some time, because a network outage may be short;
  // but if no worker was ever reached, a NacreError of the road, such as a refused key, rejects them at once.
  async #keepOpening(): Promise<void> {
    this.#isOpening = true;
    const longestMs = this.#road.retryMs ?? lastDelayMs;
    let delayMs = Math.min(firstDelayMs * 2 ** Math.min(this.#shortLives, 16), longestMs);
    if (this.#shortLives > 1) await this.#called.wait(delayMs);
    for (; this.#isWanted(); delayMs = Math.min(delayMs * 2, longestMs)) {
      try {
        await this.#connect();
        break;
      } catch (error) {
        this.#failure = error;
        if (error instanceof NacreError && this.#worker === undefined) this.#rejectCalls(error);
      }
      if (this.#isWanted()) await this.#called.wait(delayMs);
    }
    this.#isOpening = false;
  }

  async #connect(): Promise<void> {
    const stream = await this.#road.open();
    if (this.#isClosed) {
      stream.destroy();
      throw shuttingDown();
    }
    this.#epoch += 1;
    let failure: Error | undefined;
    const peer: Peer = new Peer(stream, {
      onEvent: (event, raw) => this.#handlers.onEvent(event, raw),
      onClose: (error) => {
        failure = error;
        this.#onClose(peer);
      },
    });
    this.#number += 1;
    const answer = peer.call(this.#number, 'hello', [this.#handlers.hello(this.#epoch)]);
    answer.catch(() => {});
    const isAnswered = await settlesWithin(answer, helloMs).catch((error: unknown) => {
      throw failure ?? error;
    });
    if (!isAnswered || this.#isClosed) {
      peer.close();
      throw new Error('it did not answer');
    }
    this.#onHello(peer, toHello(peer, (await answer).result));
  }

  #onHello(peer: Peer, hello: FarHello): void {
    const isNew = this.#worker !== undefined && this.#worker !== hello.worker;
    this.#worker = hello.worker;
    this.#peer = peer;
    this.#openFor = createStopwatch();
    this.#handlers.onUnreachable(undefined);
    this.#handlers.onOpen(hello, isNew);
    if (this.#handlers.isNeeded()) this.watch();
    for (const [number, call] of [...this.#calls]) this.#transmit(peer, number, call);
  }

  #onClose(peer: Peer): void {
    if (this.#peer !== peer) return;
    this.#peer = null;
    this.#shortLives = this.#openFor() < shortLifeMs ? this.#shortLives + 1 : 0;
    if (!this.#isWanted()) return;
    this.#handlers.onUnreachable(new Date().toISOString());
    for (const call of this.#calls.values()) this.#expectStream(call);
    this.watch();
  }

  #rejectCalls(error: NacreError): void {
    for (const call of this.#calls.values()) call.reject(error);
  }
}

function toHello(peer: Peer, answer: unknown): FarHello {
  try {
    return checkHello(answer);
  } catch (error) {
    peer.close();
    throw error;
  }
}

function noAnswer(method: string): NacreError {
  return new NacreError('resources_unavailable', `The worker did not answer the call ${method} in time.`, {
    hint: 'Check whether the call had an effect before you repeat it. nacre machines shows whether the machine can be reached.',
  });
}

function noWorker(cause: unknown): NacreError {
  if (cause instanceof NacreError) return cause;
  const reason = cause instanceof Error ? cause.message : 'it does not answer';
  return new NacreError(
    'resources_unavailable',
    `The worker that runs the commands cannot be reached: ${reason}.`,
    {
      hint: 'Try again later. nacre ps shows the last known state of commands; nacre shutdown ends a worker that does not answer.',
      cause,
    },
  );
}
