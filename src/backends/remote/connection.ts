// The near side's stream to a worker:
// 1. the first call opens it: the road finds or starts the worker, `hello` names the jobs that the near side knows,
// 2. if it breaks, it is opened again as long as jobs or calls need it; open calls are sent again by their numbers,
// 3. another worker at the far end means that the first one is gone with its jobs, except those that it kept on disk.
//    Calls that the first one may have made already, such as `start`, are not sent to the second.
import { NacreError, shuttingDown } from '../../contract/failure.ts';
import type { FarHello, NearHello, WireCalls, WireEvent, WireMethod } from '../../contract/wire.ts';
import { createDeferred, createNotifier, type Deferred, settlesWithin } from '../../support/timing.ts';
import { type Answer, Peer, StreamClosedError } from '../../wire/peer.ts';
import type { Road } from '../../wire/road.ts';
import { checkHello } from './check-far.ts';

/** Callbacks of a `Connection`. */
export interface ConnectionHandlers {
  hello(epoch: number): NearHello;
  /** Called after each `hello`; `isNew` if the worker is another one than before. */
  onOpen(hello: FarHello, isNew: boolean): void;
  onEvent(event: WireEvent, raw: readonly Buffer[]): void;
  /** Called when the stream breaks, and with undefined when it is open again. */
  onUnreachable(since: string | undefined): void;
  /** True while the stream must be opened again if it breaks. */
  isNeeded(): boolean;
}

/** A call was sent, but its worker was replaced before it answered, so that it may have been made and is not sent again. */
export class WorkerReplacedError extends NacreError {
  constructor() {
    super('resources_unavailable', 'The worker was replaced by another one before it answered this call.', {
      hint: 'Check whether it had an effect before you make it again.',
    });
  }
}

/** A call was sent, but the worker cannot be reached any more, so that it may have been made. */
export class UnansweredError extends NacreError {
  constructor(cause: NacreError) {
    super(cause.code, cause.message, { hint: cause.hint, details: { ...cause.details }, cause });
  }
}

const beatMs = 5_000;
const helloMs = 10_000;
// How long a call waits for a stream, so that it is answered even if no worker is.
const patienceMs = 15_000;
const firstDelayMs = 10;
const lastDelayMs = 2_000;
const byeMs = 1_000;

// Another worker than the one to which they were sent does not get these, since the first one may have made them.
const neverTwice: ReadonlySet<string> = new Set([
  ...['start', 'write', 'applyChanges', 'discardChanges', 'undoChanges', 'openPort'],
]);

// These wait for processes to end, or for files to be moved.
const slowCalls: ReadonlySet<string> = new Set([
  ...['stop', 'closeSession', 'warmUp', 'applyChanges', 'discardChanges', 'undoChanges', 'shutdown'],
]);
const slowestMs = 180_000;

/** A call that is not answered yet; `open` waits as one without a method. */
class OpenCall {
  readonly method: WireMethod | undefined;
  readonly words: readonly unknown[];
  readonly raw: readonly Uint8Array[];
  readonly answer: Deferred<Answer> = createDeferred();
  /** The worker to which it was sent last. */
  worker: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(method?: WireMethod, words: readonly unknown[] = [], raw: readonly Uint8Array[] = []) {
    this.method = method;
    this.words = words;
    this.raw = raw;
    // It may be rejected before anything awaits it.
    this.answer.promise.catch(() => {});
  }

  /** Rejects it unless it is sent within `ms`. */
  expectStream(ms: number, toError: () => NacreError): void {
    this.stopWaiting();
    this.#timer = setTimeout(() => this.reject(toError()), ms);
  }

  reject(error: NacreError): void {
    this.answer.reject(this.worker === undefined ? error : new UnansweredError(error));
  }

  /** Rejects it unless it is answered within `ms`. */
  expectAnswer(ms: number): void {
    this.stopWaiting();
    this.#timer = setTimeout(() => this.reject(noAnswer(this.method ?? '')), ms).unref();
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

  constructor(road: Road, handlers: ConnectionHandlers) {
    this.#road = road;
    this.#handlers = handlers;
  }

  /** True once it was opened. */
  get hasBegun(): boolean {
    return this.#worker !== undefined || this.#isOpening;
  }

  /** How often it was opened. */
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

  /** Sends pings as long as a job or a call depends on the worker, and opens a stream that has broken. */
  watch(): void {
    if (this.#peer) this.#peer.beat(beatMs);
    else if (!this.#isOpening) void this.#keepOpening();
  }

  async open(): Promise<void> {
    if (!this.#peer) await this.#await(new OpenCall());
  }

  /** Says goodbye, so that the worker does not wait for another stream, and closes the stream. */
  async close(): Promise<void> {
    const bye = this.#peer && this.send('bye', []);
    this.#isClosed = true;
    if (bye) await settlesWithin(bye, byeMs).catch(() => {});
    this.#called.notifyAll();
    this.#rejectCalls(shuttingDown());
    this.#peer?.close();
    this.#peer = null;
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
    if (answerMs !== undefined) call.expectAnswer(slowCalls.has(method) ? answerMs + slowestMs : answerMs);
    peer.beat(beatMs);
    // A call whose stream breaks is sent again over the next one.
    peer.call(number, method, call.words, call.raw).then(call.answer.resolve, (error: unknown) => {
      if (!(error instanceof StreamClosedError)) call.answer.reject(error);
    });
  }

  // Tries until the stream is open or nothing needs it any more. Calls wait for some time, since a network may be back soon;
  // an error of the road, such as a refused key, answers them at once if no worker was ever reached.
  async #keepOpening(): Promise<void> {
    this.#isOpening = true;
    const longestMs = this.#road.retryMs ?? lastDelayMs;
    for (let delayMs = firstDelayMs; this.#isWanted(); delayMs = Math.min(delayMs * 2, longestMs)) {
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
    if (!isAnswered) peer.close();
    if (!isAnswered || this.#isClosed) throw new Error('it did not answer');
    this.#onHello(peer, toHello(peer, (await answer).result));
  }

  #onHello(peer: Peer, hello: FarHello): void {
    const isNew = this.#worker !== undefined && this.#worker !== hello.worker;
    this.#worker = hello.worker;
    this.#peer = peer;
    this.#handlers.onUnreachable(undefined);
    this.#handlers.onOpen(hello, isNew);
    if (this.#handlers.isNeeded()) this.watch();
    for (const [number, call] of [...this.#calls]) this.#transmit(peer, number, call);
  }

  #onClose(peer: Peer): void {
    if (this.#peer !== peer) return;
    this.#peer = null;
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
    hint: 'Check whether it had an effect before you make it again; nacre machines shows whether its machine answers.',
  });
}

function noWorker(cause: unknown): NacreError {
  if (cause instanceof NacreError) return cause;
  const reason = cause instanceof Error ? cause.message : 'it does not answer';
  return new NacreError(
    'resources_unavailable',
    `The worker that keeps commands cannot be reached: ${reason}.`,
    {
      hint: 'Call again later; nacre ps shows what is known, and nacre shutdown ends a worker that does not answer.',
      cause,
    },
  );
}
