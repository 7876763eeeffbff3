import { type ChildProcess, spawn } from 'node:child_process';
import { NacreError } from '../../contract/failure.ts';
import { createDeferred, createStopwatch, type Deferred, settlesWithin } from '../../support/timing.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import { continueWhileStopped } from '../processes/continue-helpers.ts';
import { readOrEmpty } from '../processes/descendants.ts';
import { parseStat } from '../processes/proc-process-table.ts';
import { findLayerHelper } from './helper-script.ts';

// Applying a large layer takes minutes, but uses CPU time the whole time.
const defaultStallMs = 60_000;
const exitMs = 1_000;

/**
 * The process that compares and applies layers, one request after the other. It is started at the first request, and
 * again if it has ended. It completes a request even if this process is killed. If it was stopped (SIGSTOP), it is
 * continued; if it uses no CPU time for `stallMs` during a request, it is killed, and the next one completes its work.
 */
export class LayerHelper {
  readonly #program: readonly [string, ...string[]] | undefined;
  readonly #stallMs: number;
  #child: ChildProcess | null = null;
  #requests = 0;
  readonly #waiting = new Map<string, Deferred<readonly Buffer[]>>();

  /** `program` is the command line of the helper; tests replace it. */
  constructor(program = findLayerHelper(), stallMs = defaultStallMs) {
    this.#program = program;
    this.#stallMs = stallMs;
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
    const unwatch = this.#child && watchForStall(this.#child, this.#stallMs, (child) => this.#giveUp(child));
    try {
      return await reply.promise;
    } finally {
      unwatch?.();
    }
  }

  /** Waits until all requests are answered, and ends the process. */
  async close(): Promise<void> {
    await Promise.allSettled([...this.#waiting.values()].map(({ promise }) => promise));
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.stdin?.end();
    if (await settlesWithin(exited, exitMs)) return;
    child.kill('SIGKILL');
    await settlesWithin(exited, exitMs);
  }

  // The helper may survive SIGKILL in an uninterruptible system call, so its exit is not awaited.
  #giveUp(child: ChildProcess): void {
    child.kill('SIGKILL');
    this.#lose(child, 'the process that applies changes does not respond');
  }

  #spawn([program, ...args]: readonly [string, ...string[]]): ChildProcess {
    const stdio = withoutInherited(['ignore', 'ignore', 'ignore']).slice(3);
    const child = spawn(program, args, {
      cwd: '/',
      env: { PERL_BADLANG: '0' },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore', ...stdio],
    });
    const stopContinuing = child.pid === undefined ? () => {} : continueWhileStopped(child.pid);
    for (const event of ['error', 'exit'])
      child.once(event, () => {
        stopContinuing();
        this.#lose(child, 'the process that applies changes has ended');
      });
    child.stdin?.on('error', () => {});
    readReplies(child, ([id = nul, status, ...rest]) => {
      const waiting = this.#waiting.get(id.toString());
      this.#waiting.delete(id.toString());
      if (this.#waiting.size === 0) child.unref();
      const [word, reason] = [status?.toString(), rest[0]?.toString().trim() ?? ''];
      if (word === 'ok') waiting?.resolve(rest);
      else if (word === 'failed') waiting?.reject(toFailure(reason, asBefore));
      else waiting?.reject(toFailure(reason, inPart));
    });
    return child;
  }

  #lose(child: ChildProcess, reason: string): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const one of this.#waiting.values()) one.reject(toFailure(reason, inPart));
    this.#waiting.clear();
  }
}

/** Calls `onStall` once if the CPU time of `child` stays the same for `stallMs`; the returned function ends the watch. */
function watchForStall(
  child: ChildProcess,
  stallMs: number,
  onStall: (child: ChildProcess) => void,
): () => void {
  let elapsed = createStopwatch();
  let known = cpuMsOf(child.pid);
  const timer = setInterval(() => {
    const now = cpuMsOf(child.pid);
    if (now !== known) [known, elapsed] = [now, createStopwatch()];
    else if (elapsed() >= stallMs) onStall(child);
  }, stallMs / 10);
  return () => clearInterval(timer);
}

function cpuMsOf(pid: number | undefined): number | undefined {
  return parseStat(readOrEmpty(`/proc/${pid}/stat`))?.usage?.cpuMs;
}

const nul = Buffer.from([0]);

const asBefore = 'The workspace is as it was before this call. nacre changes shows what is kept.';
const inPart =
  'Some of the changes may be in the workspace. The next call about changes, or the next start of nacre, completes them.';

function toFailure(reason: string, hint: string): NacreError {
  return new NacreError('resources_unavailable', `The changes could not be processed: ${reason}.`, { hint });
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
