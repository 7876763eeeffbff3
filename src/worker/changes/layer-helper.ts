import { type ChildProcess, spawn } from 'node:child_process';
import { NacreError } from '../../contract/failure.ts';
import { createDeferred, type Deferred } from '../../support/timing.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import { findLayerHelper } from './helper-script.ts';

/**
 * The process that compares and applies layers, one request after the other. It is started at the first request, and again
 * if it has ended. It completes a request even if this process is killed.
 */
export class LayerHelper {
  readonly #program: readonly [string, ...string[]] | undefined;
  #child: ChildProcess | null = null;
  #requests = 0;
  readonly #waiting = new Map<string, Deferred<readonly Buffer[]>>();

  /** `program` is the command line of the helper; tests replace it. */
  constructor(program = findLayerHelper()) {
    this.#program = program;
  }

  /** False without perl; then `call` throws. */
  get isAvailable(): boolean {
    return this.#program !== undefined;
  }

  /** Starts the process ahead of the first request. */
  warmUp(): void {
    if (this.#program) this.#child ??= this.#spawn(this.#program);
  }

  /** Sends a request and returns the words of the reply; throws if it failed, or if the helper ended. */
  async call(...words: readonly (string | Buffer)[]): Promise<readonly Buffer[]> {
    this.warmUp();
    const id = String(this.#requests++);
    const reply = createDeferred<readonly Buffer[]>();
    this.#waiting.set(id, reply);
    const parts = [id, ...words].flatMap((word, index) =>
      index === 0 ? [Buffer.from(word)] : [nul, Buffer.from(word)],
    );
    const body = Buffer.concat(parts);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(body.length);
    this.#child?.ref();
    this.#child?.stdin?.write(Buffer.concat([length, body]));
    return reply.promise;
  }

  /** Waits until all requests are answered, and ends the process. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#waiting.values()].map(({ promise }) => promise));
    this.#child?.stdin?.end();
    this.#child = null;
  }

  #spawn([program, ...args]: readonly [string, ...string[]]): ChildProcess {
    const stdio = withoutInherited(['ignore', 'ignore', 'ignore']).slice(3);
    const child = spawn(program, args, {
      cwd: '/',
      env: { PERL_BADLANG: '0' },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore', ...stdio],
    });
    child.once('error', () => this.#lose(child));
    child.once('exit', () => this.#lose(child));
    child.stdin?.on('error', () => {});
    readReplies(child, ([id = nul, status, ...rest]) => {
      const waiting = this.#waiting.get(id.toString());
      this.#waiting.delete(id.toString());
      if (this.#waiting.size === 0) child.unref();
      if (status?.toString() === 'ok') waiting?.resolve(rest);
      else waiting?.reject(toFailure(rest[0]?.toString().trim() ?? ''));
    });
    return child;
  }

  #lose(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const one of this.#waiting.values())
      one.reject(toFailure('the process that applies changes has ended'));
    this.#waiting.clear();
  }
}

const nul = Buffer.from([0]);

function toFailure(reason: string): NacreError {
  return new NacreError('resources_unavailable', `The changes could not be processed: ${reason}.`, {
    hint: 'The workspace is as it was before this call. nacre changes shows what is kept.',
  });
}

function readReplies({ stdout }: ChildProcess, onReply: (words: readonly Buffer[]) => void): void {
  let chunks: Buffer[] = [];
  let size = 0;
  stdout?.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.length;
    while (size >= 4) {
      const bytes = chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
      const length = 4 + bytes.readUInt32BE(0);
      chunks = [bytes];
      if (size < length) return;
      chunks = [bytes.subarray(length)];
      size -= length;
      onReply(split(bytes.subarray(4, length)));
    }
  });
}

function split(bytes: Buffer): readonly Buffer[] {
  const words: Buffer[] = [];
  for (let at = 0; ; ) {
    const end = bytes.indexOf(0, at);
    words.push(bytes.subarray(at, end < 0 ? bytes.length : end));
    if (end < 0) return words;
    at = end + 1;
  }
}
