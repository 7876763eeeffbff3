import type { Duplex } from 'node:stream';
import { failureCodes, NacreError, toNacreError } from '../contract/failure.ts';
import { frameKinds, magic, unanswered, type WireEvent, type WireFailure } from '../contract/wire.ts';
import { createDeferred, type Deferred } from '../support/timing.ts';
import { encodeFrame, FrameReader, maxBannerBytes, type WireFrame } from './frames.ts';

/** A result with raw bytes. */
export interface Answer {
  readonly result: unknown;
  readonly raw: readonly Uint8Array[];
}

/** A call as it arrives. */
export interface IncomingCall {
  readonly number: number;
  readonly method: string;
  readonly words: readonly unknown[];
  readonly raw: readonly Buffer[];
}

/** Receives messages from the other side. */
export interface PeerHandlers {
  /** Absent on the near side: a call from a hostile worker closes the stream. */
  onCall?(call: IncomingCall): Promise<Answer> | Answer;
  onEvent?(event: WireEvent, raw: readonly Buffer[]): void;
  /** Called once, when the stream has ended or failed, or the other side has missed its heartbeats. */
  onClose(error: Error): void;
}

type OnCall = NonNullable<PeerHandlers['onCall']>;

// Bytes that may wait in a stream before the sender pauses.
const backlogBytes = 1_048_576;

/** One side of a byte stream that carries the frames of `contract/wire.ts`. */
export class Peer {
  readonly #stream: Duplex;
  readonly #handlers: PeerHandlers;
  readonly #calls = new Map<number, Deferred<Answer>>();
  #drained: Deferred<void> | null = null;
  #isClosed = false;
  #heartbeat: NodeJS.Timeout | undefined;
  #missed = 0;
  #lastData = performance.now();
  #isCorked = false;

  constructor(stream: Duplex, handlers: PeerHandlers) {
    this.#stream = stream;
    this.#handlers = handlers;
    // The far side accepts no bytes before `magic`: otherwise `curl --unix-socket` could send calls in the body of a
    // request.
    const bannerBytes = handlers.onCall ? 0 : maxBannerBytes;
    const reader = new FrameReader((frame) => this.#receive(frame), bannerBytes);
    stream.on('data', (piece: Buffer) => {
      this.#missed = 0;
      this.#lastData = performance.now();
      try {
        reader.push(piece);
      } catch (error) {
        this.close(error as Error);
      }
    });
    stream.on('drain', () => this.#relieve());
    stream.on('error', (error) => this.close(error));
    for (const event of ['end', 'close'] as const)
      stream.on(event, () => this.close(new Error('the stream was closed')));
    stream.write(Buffer.from(magic, 'latin1'));
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Milliseconds since the last bytes were received. */
  get silentMs(): number {
    return performance.now() - this.#lastData;
  }

  /** Sends a call; the answer has the same number. */
  call(
    number: number,
    method: string,
    words: readonly unknown[],
    raw: readonly Uint8Array[] = [],
  ): Promise<Answer> {
    const answer = createDeferred<Answer>();
    this.#calls.set(number, answer);
    this.#send(frameKinds.call, number, { m: method, w: words }, raw);
    return answer.promise;
  }

  /** Sends a call without an answer. */
  notify(method: string, words: readonly unknown[]): void {
    this.#send(frameKinds.call, unanswered, { m: method, w: words });
  }

  /** Sends an event; `onSent` is called once `raw` may be overwritten. */
  push(event: WireEvent, raw: readonly Uint8Array[] = [], onSent?: () => void): void {
    this.#send(frameKinds.event, 0, event, raw, onSent);
  }

  /** Resolves when the other side has read enough for more to be sent; rejects if the stream was closed. */
  async drained(): Promise<void> {
    while (!this.#isClosed && this.#stream.writableLength > backlogBytes) {
      this.#drained ??= createDeferred();
      await this.#drained.promise;
    }
  }

  /** Sends a ping every `intervalMs`; three without any answer close the peer. */
  beat(intervalMs: number): void {
    if (this.#heartbeat || this.#isClosed) return;
    this.#missed = 0;
    this.#heartbeat = setInterval(() => {
      this.#missed += 1;
      if (this.#missed > 3) this.close(new Error('it has missed three heartbeats'));
      else this.#send(frameKinds.ping, 0, undefined);
    }, intervalMs).unref();
  }

  /** Stops the pings, because this side waits for nothing from the other side. */
  rest(): void {
    clearInterval(this.#heartbeat);
    this.#heartbeat = undefined;
  }

  /** Ends the stream after everything that was sent. */
  end(): void {
    this.rest();
    this.#stream.end();
  }

  close(error: Error = new Error('it was closed')): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.rest();
    this.#stream.destroy();
    this.#relieve();
    for (const call of this.#calls.values()) call.reject(new StreamClosedError(error.message));
    this.#calls.clear();
    this.#handlers.onClose(error);
  }

  #relieve(): void {
    this.#drained?.resolve();
    this.#drained = null;
  }

  #send(kind: number, number: number, body: unknown, raw?: readonly Uint8Array[], onSent?: () => void): void {
    if (this.#isClosed) return;
    const pieces = encodeFrame(kind, number, body, raw);
    this.#cork();
    for (const [index, piece] of pieces.entries())
      this.#stream.write(piece, index === pieces.length - 1 ? onSent : undefined);
  }

  /** Writes the frames that were sent so far at once, so that the other side can begin while this side continues. */
  flush(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#stream.uncork();
  }

  // All frames that one callback of the event loop sends are written with one system call, so that the other side wakes up once.
  #cork(): void {
    if (this.#isCorked) return;
    this.#isCorked = true;
    this.#stream.cork();
    process.nextTick(() => this.flush());
  }

  #receive({ kind, number, body, raw }: WireFrame): void {
    // Unread pongs must not accumulate in this process's memory.
    if (kind === frameKinds.ping && this.#stream.writableLength < backlogBytes)
      this.#send(frameKinds.pong, 0, undefined);
    if (kind === frameKinds.event) this.#handlers.onEvent?.(body as WireEvent, raw);
    if (kind === frameKinds.call) {
      const { onCall } = this.#handlers;
      if (!onCall) throw new Error('It makes calls, which only a near side may do.');
      void this.#answer(onCall, number, body, raw);
    }
    const call = this.#calls.get(number);
    if (!call) return;
    this.#calls.delete(number);
    if (kind === frameKinds.answer) call.resolve({ result: body, raw });
    else call.reject(fromFailure(body as WireFailure));
  }

  async #answer(onCall: OnCall, number: number, body: unknown, raw: readonly Buffer[]): Promise<void> {
    try {
      const { method, words } = toCall(body);
      const answer = await onCall({ number, method, words, raw });
      if (number !== unanswered) this.#send(frameKinds.answer, number, answer.result ?? null, answer.raw);
    } catch (error) {
      if (number !== unanswered) this.#send(frameKinds.failure, number, toFailure(error));
    }
  }
}

// A worker must survive any bytes that another program of the user sends to its socket.
function toCall(body: unknown): Pick<IncomingCall, 'method' | 'words'> {
  const { m: method, w: words } = (body ?? {}) as { readonly m?: unknown; readonly w?: unknown };
  if (typeof method === 'string' && Array.isArray(words)) return { method, words };
  throw new NacreError('invalid_request', 'A call on a stream to a worker has no method or no arguments.', {
    hint: 'Use nacre itself to talk to a worker.',
  });
}

/** The stream was closed before a call was answered. */
export class StreamClosedError extends Error {}

function toFailure(error: unknown): WireFailure {
  const { code, message, hint } = toNacreError(error);
  return { code, message, hint };
}

// The other side may be hostile, so only texts and known codes are passed on.
function fromFailure(failure: Partial<WireFailure> | null | undefined): NacreError {
  const { code, message, hint } = failure ?? {};
  const known = failureCodes.find((one) => one === code) ?? 'internal';
  const text = typeof message === 'string' ? message.slice(0, longestText) : 'The worker reported a failure.';
  return new NacreError(known, text, {
    hint: typeof hint === 'string' ? hint.slice(0, longestText) : undefined,
  });
}

const longestText = 8_192;
