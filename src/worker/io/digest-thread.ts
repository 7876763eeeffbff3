import { Worker } from 'node:worker_threads';
import type { Stream } from '../../contract/job.ts';
import { createDeferred, type Deferred } from '../../support/timing.ts';

/** The SHA-256 of both outputs of a command, in hexadecimal. */
export type Digests = Readonly<Record<Stream, string>>;

/** Computes the digests of one command's outputs in another thread, from bytes that it copies. */
export interface ThreadDigest {
  add(stream: Stream, bytes: Uint8Array): void;
  /** True while more than `mostBehindBytes` wait for the thread: pause reading until `onRelief`. */
  readonly isBehind: boolean;
  /** The digests of all bytes so far; undefined if the thread has died. */
  digests(): Promise<Digests | undefined>;
  close(): void;
}

// Blocks are large, because a message takes as long as hashing about 20 KB.
const blockBytes = 262_144;
const mostBehindBytes = 1_048_576;
const idleMs = 10_000;

/** A message of the thread: a block that it has hashed, for reuse, or digests. */
type FromThread =
  | { readonly id: number; readonly block: ArrayBuffer; readonly used: number }
  | { readonly id: number; readonly digests: Digests };

// CommonJS, because `eval` runs it as a script.
const threadScript = `
const { parentPort } = require('node:worker_threads');
const { createHash } = require('node:crypto');
const all = new Map();
const of = (id) => {
  if (!all.has(id)) all.set(id, { stdout: createHash('sha256'), stderr: createHash('sha256') });
  return all.get(id);
};
parentPort.on('message', ({ id, stream, block, used, close }) => {
  if (close) return void all.delete(id);
  const hashes = of(id);
  if (block) {
    hashes[stream].update(new Uint8Array(block, 0, used));
    return parentPort.postMessage({ id, block, used }, [block]);
  }
  const digest = (hash) => hash.copy().digest('hex');
  parentPort.postMessage({ id, digests: { stdout: digest(hashes.stdout), stderr: digest(hashes.stderr) } });
});
`;

/** Starts computing digests; `onRelief` is called when `isBehind` may have become false. */
export function createThreadDigest(onRelief: () => void): ThreadDigest {
  try {
    shared ??= new DigestThread();
    return new StreamDigests(shared, onRelief);
  } catch {
    return lost;
  }
}

const lost: ThreadDigest = { add() {}, isBehind: false, digests: async () => undefined, close() {} };

let shared: DigestThread | undefined;

/** Ends the thread, as a lack of memory would; digests are then computed from the log. */
export function endDigestThread(): void {
  shared?.end();
}

/** One thread for all commands; it ends when no command has used it for a while. */
class DigestThread {
  readonly #worker = new Worker(threadScript, { eval: true, env: {}, execArgv: [] });
  readonly #open = new Map<number, StreamDigests>();
  #idle: NodeJS.Timeout | undefined;
  #lastId = 0;

  constructor() {
    this.#worker.unref();
    this.#worker.on('message', (message: FromThread) => this.#open.get(message.id)?.receive(message));
    this.#worker.on('error', () => this.end());
    this.#worker.on('exit', () => this.end());
  }

  open(digests: StreamDigests): number {
    clearTimeout(this.#idle);
    this.#lastId += 1;
    this.#open.set(this.#lastId, digests);
    return this.#lastId;
  }

  post(message: Readonly<Record<string, unknown>>, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  close(id: number): void {
    if (!this.#open.delete(id)) return;
    this.post({ id, close: true });
    if (this.#open.size === 0) this.#idle = setTimeout(() => this.end(), idleMs).unref();
  }

  end(): void {
    if (shared === this) shared = undefined;
    void this.#worker.terminate();
    for (const digests of this.#open.values()) digests.lose();
    this.#open.clear();
  }
}

class StreamDigests implements ThreadDigest {
  readonly #thread: DigestThread;
  readonly #id: number;
  readonly #onRelief: () => void;
  readonly #filling: Partial<Record<Stream, { readonly block: Uint8Array<ArrayBuffer>; used: number }>> = {};
  readonly #spare: ArrayBuffer[] = [];
  #behindBytes = 0;
  #isLost = false;
  #waiting: Deferred<Digests | undefined>[] = [];

  constructor(thread: DigestThread, onRelief: () => void) {
    this.#thread = thread;
    this.#onRelief = onRelief;
    this.#id = thread.open(this);
  }

  get isBehind(): boolean {
    return this.#behindBytes > mostBehindBytes;
  }

  add(stream: Stream, bytes: Uint8Array): void {
    for (let rest = bytes; rest.length > 0 && !this.#isLost; ) {
      this.#filling[stream] ??= {
        block: new Uint8Array(this.#spare.pop() ?? new ArrayBuffer(blockBytes)),
        used: 0,
      };
      const filling = this.#filling[stream];
      const count = Math.min(rest.length, blockBytes - filling.used);
      filling.block.set(count === rest.length ? rest : rest.subarray(0, count), filling.used);
      filling.used += count;
      rest = rest.subarray(count);
      if (filling.used === blockBytes) this.#send(stream);
    }
  }

  digests(): Promise<Digests | undefined> {
    if (this.#isLost) return Promise.resolve(undefined);
    this.#send('stdout');
    this.#send('stderr');
    const waiting = createDeferred<Digests | undefined>();
    this.#waiting.push(waiting);
    this.#thread.post({ id: this.#id });
    return waiting.promise;
  }

  close(): void {
    this.#thread.close(this.#id);
    this.lose();
  }

  receive(message: FromThread): void {
    if ('digests' in message) {
      this.#waiting.shift()?.resolve(message.digests);
      return;
    }
    this.#behindBytes -= message.used;
    this.#spare.push(message.block);
    if (!this.isBehind) this.#onRelief();
  }

  /** The thread has ended, or its digests are not needed any more. */
  lose(): void {
    this.#isLost = true;
    this.#behindBytes = 0;
    this.#spare.length = 0;
    for (const one of this.#waiting) one.resolve(undefined);
    this.#waiting = [];
    this.#onRelief();
  }

  #send(stream: Stream): void {
    const filling = this.#filling[stream];
    if (!filling || filling.used === 0) return;
    delete this.#filling[stream];
    const { block, used } = filling;
    this.#behindBytes += used;
    this.#thread.post({ id: this.#id, stream, block: block.buffer, used }, [block.buffer]);
  }
}
