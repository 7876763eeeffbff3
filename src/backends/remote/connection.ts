// The near side's stream to a worker:
// 1. the first call opens it: the road finds or starts the worker, `hello` names the jobs that the near side knows,
// 2. if it breaks, it is opened again at once while there are jobs or calls, and open calls are sent again by their numbers,
// 3. another worker at the far end means that the first one is gone with its jobs, except those that it kept on disk.
import type { Duplex } from 'node:stream';
import { NacreError, shuttingDown } from '../../contract/failure.ts';
import type { FarHello, NearHello, WireCalls, WireEvent, WireMethod } from '../../contract/wire.ts';
import { createDeferred, type Deferred, settlesWithin, sleep } from '../../support/timing.ts';
import { type Answer, Peer, StreamClosedError } from '../../wire/peer.ts';

/** Opens byte streams to a worker. */
export interface Road {
  /** Connects to the worker, which is started if there is none. */
  open(): Promise<Duplex>;
}

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

interface OpenCall {
  readonly method: string;
  readonly words: readonly unknown[];
  readonly raw: readonly Uint8Array[];
  readonly answer: Deferred<Answer>;
}

const beatMs = 5_000;
const helloMs = 10_000;
const patienceMs = 10_000;
const attempts = 8;

/** A stream to a worker that is opened on demand. */
export class Connection {
  readonly #road: Road;
  readonly #handlers: ConnectionHandlers;
  readonly #calls = new Map<number, OpenCall>();
  #peer: Peer | null = null;
  #opening: Promise<Peer> | null = null;
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
    return this.#worker !== undefined || this.#opening !== null;
  }

  /** Makes a call; rejects if no worker answers within some seconds. */
  async call<M extends WireMethod>(
    method: M,
    ...words: Parameters<WireCalls[M]>
  ): Promise<ReturnType<WireCalls[M]>> {
    return (await this.send(method, words)).result as ReturnType<WireCalls[M]>;
  }

  /** Makes a call with raw bytes. */
  async send(
    method: WireMethod,
    words: readonly unknown[],
    raw: readonly Uint8Array[] = [],
  ): Promise<Answer> {
    if (this.#isClosed) throw shuttingDown();
    const answer = createDeferred<Answer>();
    // `close` may reject it while the stream is being opened, before anything awaits it.
    answer.promise.catch(() => {});
    this.#number += 1;
    const number = this.#number;
    this.#calls.set(number, { method, words, raw, answer });
    try {
      const peer = this.#peer ?? (await this.#open());
      this.#transmit(peer, number);
      return await answer.promise;
    } finally {
      this.#calls.delete(number);
      this.#rest();
    }
  }

  /** Makes a call without an answer, if the stream is open. */
  notify<M extends WireMethod>(method: M, ...words: Parameters<WireCalls[M]>): void {
    this.#peer?.notify(method, words);
  }

  /** Sends pings as long as a job or a call depends on the worker. */
  watch(): void {
    this.#peer?.beat(beatMs);
  }

  async open(): Promise<void> {
    if (!this.#peer) await this.#open();
  }

  close(): void {
    this.#isClosed = true;
    for (const { answer } of this.#calls.values()) answer.reject(shuttingDown());
    this.#peer?.close();
    this.#peer = null;
  }

  #rest(): void {
    if (this.#calls.size === 0 && !this.#handlers.isNeeded()) this.#peer?.rest();
  }

  // A call that was sent over a stream that broke is sent again over the next one, by `#open`.
  #transmit(peer: Peer, number: number): void {
    const call = this.#calls.get(number);
    if (!call || this.#sentOver.get(number) === peer) return;
    this.#sentOver.set(number, peer);
    peer.beat(beatMs);
    peer
      .call(number, call.method, call.words, call.raw)
      .then(call.answer.resolve, (error: unknown) => {
        if (!(error instanceof StreamClosedError)) call.answer.reject(error);
      })
      .finally(() => this.#sentOver.delete(number));
  }

  readonly #sentOver = new Map<number, Peer>();

  #open(): Promise<Peer> {
    this.#opening ??= this.#connect().finally(() => {
      this.#opening = null;
    });
    return this.#opening;
  }

  async #connect(): Promise<Peer> {
    let failure: unknown;
    for (let turn = 0; turn < attempts && !this.#isClosed; turn += 1) {
      try {
        return await this.#connectOnce();
      } catch (error) {
        failure = error;
        if (error instanceof NacreError) throw error;
        await sleep(turn * 20);
      }
    }
    throw this.#isClosed ? shuttingDown() : noWorker(failure);
  }

  async #connectOnce(): Promise<Peer> {
    const stream = await this.#road.open();
    this.#epoch += 1;
    const peer: Peer = new Peer(stream, {
      onEvent: (event, raw) => this.#handlers.onEvent(event, raw),
      onClose: () => this.#onClose(peer),
    });
    this.#number += 1;
    const answer = peer.call(this.#number, 'hello', [this.#handlers.hello(this.#epoch)]);
    answer.catch(() => {});
    if (!(await settlesWithin(answer, helloMs))) {
      peer.close();
      throw new Error('it did not answer');
    }
    const hello = (await answer).result as FarHello;
    if (this.#isClosed) {
      peer.close();
      throw shuttingDown();
    }
    const isNew = this.#worker !== undefined && this.#worker !== hello.worker;
    this.#worker = hello.worker;
    this.#peer = peer;
    this.#handlers.onUnreachable(undefined);
    this.#handlers.onOpen(hello, isNew);
    for (const number of [...this.#calls.keys()]) this.#transmit(peer, number);
    return peer;
  }

  #onClose(peer: Peer): void {
    if (this.#peer !== peer) return;
    this.#peer = null;
    if (this.#isClosed) return;
    if (this.#calls.size === 0 && !this.#handlers.isNeeded()) return;
    this.#handlers.onUnreachable(new Date().toISOString());
    void this.#reopen();
  }

  async #reopen(): Promise<void> {
    for (let delayMs = 10; !this.#isClosed && !this.#peer; delayMs = Math.min(delayMs * 2, 2_000)) {
      const isOpen = settlesWithin(this.#open(), patienceMs).catch(() => false);
      if (await isOpen) return;
      const error = noWorker(new Error('it does not answer'));
      for (const { answer } of this.#calls.values()) answer.reject(error);
      await sleep(delayMs);
    }
  }
}

function noWorker(cause: unknown): NacreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new NacreError(
    'resources_unavailable',
    `The worker that keeps commands cannot be reached: ${reason}.`,
    {
      hint: 'Call again later; nacre ps shows what is known, and nacre shutdown ends a worker that does not answer.',
      cause,
    },
  );
}
