import { closeSync } from 'node:fs';
import { constants as os } from 'node:os';
import type { StopOptions } from '../contract/backend.ts';
import { NacreError } from '../contract/failure.ts';
import type { Enforcement } from '../contract/isolation.ts';
import type {
  Cursor,
  EndCause,
  JobEnd,
  JobLook,
  JobSpec,
  JobState,
  JobStatus,
  ReadResult,
  Stream,
  TerminalSize,
} from '../contract/job.ts';
import { createBell } from '../support/bell.ts';
import { createDeferred } from '../support/deferred.ts';
import { pause } from '../support/pause.ts';
import { createStopwatch } from '../support/stopwatch.ts';
import { within } from '../support/within.ts';
import { type Capture, captureStream } from './capture.ts';
import { type CommandInput, createPipeInput, createTerminalInput, writeWhole } from './command-input.ts';
import type { KeptDaemons } from './kept-daemons.ts';
import type { Watch } from './limits/create-watch.ts';
import type { LimitReached } from './limits/judge-end.ts';
import { findReader, type InputFile, isSameSleep, type Reader, toInputFile } from './look/find-reader.ts';
import { listeningPorts } from './look/listening-ports.ts';
import { createOutputLog, type OutputLog } from './output-log.ts';
import type { ProcessTree } from './process-tree.ts';
import { sendSignal } from './send-signal.ts';
import { type Spool, SpoolFullError } from './spool.ts';
import type { ProcessExit, StartedProcess } from './start-process.ts';
import type { Started } from './starter.ts';
import type { Terminal } from './terminal/open-terminal.ts';

/** What a job has of its own. */
export interface JobBelongings {
  readonly spool: Spool;
  /** The variables that it does not get. */
  readonly withheldEnv: readonly string[];
}

/** What holds for all jobs of a worker. */
export interface JobOptions {
  readonly ringBytes: number;
  readonly spoolBytes: number;
  readonly drainMs: number;
  readonly killGraceMs: number;
  readonly daemons: KeptDaemons;
}

// A process that has closed its outputs may still be on its way out: that is not left running.
const settleMs = 50;
// What a one-shot command leaves running gets a moment to end politely; its caller is waiting for the answer.
const leftoverLadder: StopOptions = { signal: 'SIGTERM', graceMs: 100 };
// A killed process is reaped at once; one that the kernel does not let go of would keep us waiting for ever.
const reapMs = 1_000;
// What a program says of a limit stands at the end of its output.
const evidenceBytes = 16_384;
const byForce: StopOptions = { signal: 'SIGKILL', graceMs: 0 };

/**
 * One command from its first byte to its tombstone:
 * 1. `attach`: there is a process, and both outputs flow into the log; `begin`: it gets its order where it waits for
 *    one, and the timeout counts.
 * 2. `conclude`: the process's own end decides; what is in the pipes is taken, whoever still holds them gets a
 *    bounded time, and what is left running is named and ended.
 * 3. `stop` instead, when a timeout, the caller or a quota says so: the whole tree is ended first.
 * 4. `seal`: the end is known, readers and waiters are woken, the log stays readable.
 */
export class Job {
  readonly #spec: JobSpec;
  readonly #withheldEnv: readonly string[];
  readonly #options: JobOptions;
  readonly #log: OutputLog;
  #startedAt = new Date().toISOString();
  #elapsed = createStopwatch();
  readonly #bell = createBell();
  readonly #ended = createDeferred<void>();
  #captures: readonly Capture[] = [];
  #input: CommandInput | null = null;
  #terminal: Terminal | null = null;
  #inputEnded = false;
  #inputFile: InputFile | null = null;
  /** Who waited for input when the last of it was written: still the same sleep means that it was not taken yet. */
  #lastReader: Reader | null = null;
  #timer: NodeJS.Timeout | undefined;
  #tree: ProcessTree | null = null;
  #enforcement: Enforcement | null = null;
  #deniedHosts: () => readonly string[] = () => [];
  #watch: Watch | null = null;
  #session: Started['session'];
  /** What the process waits for. */
  #order: { give(): void; drop(): void } | null = null;
  #begun = false;
  #care: StartedProcess['care'];
  #exited: Promise<void> = Promise.resolve();
  #exit: ProcessExit | null = null;
  /** True once its end has begun, by itself or by somebody; the first to begin it decides the cause. */
  #ending = false;
  #limit: LimitReached | null = null;
  #disposed = false;
  #end: (Pick<JobState, 'durationMs' | 'digests'> & { readonly value: JobEnd }) | null = null;

  constructor(spec: JobSpec, { spool, withheldEnv }: JobBelongings, options: JobOptions) {
    this.#spec = spec;
    this.#withheldEnv = withheldEnv;
    this.#options = options;
    this.#log = createOutputLog({
      ringBytes: options.ringBytes,
      spool,
      onRelief: () => this.#resumeReading(),
      onSpoolFailure: (error) => this.#onSpoolFailure(error),
    });
  }

  /** Takes charge of a process that has just started, and may wait for its order. */
  attach({ process, tree, enforcement, deniedHosts, watch, session }: Started): void {
    this.#tree = tree;
    this.#session = session;
    this.#care = process.care;
    this.#enforcement = enforcement;
    if (deniedHosts) this.#deniedHosts = deniedHosts;
    if (process.terminal) this.#attachTerminal(process.terminal, process);
    else this.#attachPipes(process);
    this.#watch = watch;
    this.#exited = process.exited.then((exit) => {
      this.#exit = exit;
    });
    void this.#exited.then(() => this.#conclude());
  }

  /** Has it run. To begin twice is to begin once. */
  begin(): void {
    if (this.#begun || this.#ending) return;
    const { timeoutMs } = this.#spec;
    this.#begun = true;
    this.#startedAt = new Date().toISOString();
    this.#elapsed = createStopwatch();
    this.#order?.give();
    this.#watch?.begin((reached) => this.#giveUp(reached));
    if (timeoutMs !== null) this.#timer = setTimeout(() => this.#onTimeout(), timeoutMs);
  }

  #attachPipes({ stdout, stderr, stdin, order, care }: StartedProcess): void {
    this.#captures = [
      captureStream(stdout, (bytes) => this.#take('stdout', bytes), 'output', care),
      captureStream(stderr, (bytes) => this.#take('stderr', bytes), 'output', care),
    ];
    if (stdin === null) return;
    if (order !== undefined && this.#spec.stdin === 'empty') {
      this.#order = toWholeOrder(stdin, order);
      return;
    }
    const input = createPipeInput(stdin);
    this.#input = input;
    this.#inputFile = toInputFile(stdin);
    if (order === undefined) return;
    const give = () => {
      this.#lastReader = this.#findReader();
      void input.write(Buffer.from(order));
    };
    this.#order = { give, drop() {} };
  }

  #attachTerminal(terminal: Terminal, { stdin, order }: StartedProcess): void {
    const capture = captureStream(terminal.master, (bytes) => this.#take('stdout', bytes), 'terminal');
    this.#captures = [capture];
    this.#terminal = terminal;
    this.#input = createTerminalInput(terminal.master, capture.isOpen);
    this.#inputFile = terminal.file;
    if (stdin === null || order === undefined) return;
    this.#order = toWholeOrder(stdin, order);
  }

  /** Ends a job whose program could not be executed, the way a shell reports it. */
  async refuse(reason: string): Promise<void> {
    this.#log.append('stderr', Buffer.from(`${reason}\n`));
    this.#exit = { code: 126, signal: null };
    this.#ending = true;
    await this.#seal({ cause: 'exit' });
  }

  /** The job as it is now. */
  state(): JobState {
    return {
      id: this.#spec.id,
      status: this.#status(),
      pid: this.#tree?.pid ?? null,
      startedAt: this.#startedAt,
      durationMs: Math.round(this.#end?.durationMs ?? this.#elapsed()),
      stdoutBytes: this.#log.stdoutBytes,
      stderrBytes: this.#log.stderrBytes,
      digests: this.#end?.digests,
      withheldEnv: this.#withheldEnv,
      enforcement: this.#enforcement,
      resources: this.#watch?.resources() ?? null,
      end: this.#end?.value ?? null,
    };
  }

  /** Bytes from a position on; waits up to `waitMs` for the first of them. */
  async read(from: Cursor, options: { waitMs: number; maxBytes: number }): Promise<ReadResult> {
    if (!Number.isInteger(from) || from < 0 || from > this.#log.end) throw outsideLog(from, this.#log.end);
    if (from === this.#log.end && !this.#end && options.waitMs > 0) await this.#bell.heard(options.waitMs);
    const final = this.#end !== null;
    const chunks = await this.#log.read(from, options.maxBytes);
    const next = chunks.reduce((at, chunk) => at + chunk.data.length, from);
    return { chunks, next, end: this.#log.end, final };
  }

  /** What its processes do now. */
  async look(): Promise<JobLook> {
    const tree = this.#end ? null : this.#tree;
    if (!tree) return { awaitingInput: false, listening: [] };
    const awaitingInput = this.awaitsInput();
    const view = await tree.glance();
    this.#watch?.note(view);
    return { awaitingInput, listening: listeningPorts(view.guests.map(({ pid }) => pid)) };
  }

  /** True while one of its processes sleeps until there is input from us. */
  awaitsInput(): boolean {
    const reader = !this.#end && this.#input?.isFull() === false ? this.#findReader() : null;
    // What it wrote before it fell asleep is in the pipes at the latest now.
    if (reader) for (const capture of this.#captures) capture.drain();
    return reader !== null && !isSameSleep(reader, this.#lastReader);
  }

  /** Waits up to `waitMs` for the end. */
  async wait(waitMs: number): Promise<JobState> {
    // A timer of no time takes a millisecond all the same.
    if (!this.#end && waitMs > 0) await within(this.#ended.promise, waitMs);
    return this.state();
  }

  /** Writes to the command's stdin; resolves when the command has taken it or does not want it any more. */
  async write(data: Uint8Array, { eof = false } = {}): Promise<void> {
    const input = this.#input;
    if (!input || this.#end || this.#inputEnded) throw noInput(this.#spec.id);
    this.#lastReader = this.#findReader();
    if (data.length > 0) await input.write(data);
    if (!eof) return;
    input.end();
    // At a terminal it is a key that a program may take for anything.
    this.#inputEnded = this.#terminal === null;
  }

  /** Changes the size of its terminal. */
  resize(size: TerminalSize): void {
    if (!this.#terminal || !this.#captures[0]?.isOpen()) throw noTerminal(this.#spec.id);
    this.#terminal.resize(size);
  }

  /** Does what Ctrl-C does: the terminal sees to it, or else every process of the command gets the signal. */
  async interrupt(): Promise<void> {
    if (this.#end) return;
    if (this.#terminal) return this.#input?.write(Buffer.from([0x03]));
    const view = await this.#tree?.look();
    for (const { pid } of view?.guests ?? []) sendSignal(pid, 'SIGINT');
  }

  /** Ends the whole tree; resolves when its death is confirmed. */
  async stop(cause: EndCause, options: StopOptions): Promise<JobState> {
    if (!this.#ending) {
      this.#ending = true;
      const survivors = (await this.#tree?.end(options)) ?? [];
      await this.#seal({ cause, survivors });
    } else if (!this.#end) {
      // Whoever is in more of a hurry than the first to ask does not wait for the first one's grace.
      await this.#tree?.end(options);
    }
    await this.#ended.promise;
    return this.state();
  }

  /** Forgets the output. */
  dispose(): Promise<void> {
    this.#disposed = true;
    return this.#log.dispose();
  }

  #take(stream: Stream, bytes: Uint8Array): boolean {
    // Whoever writes although nobody can read it any more must not be held up, nor ended.
    if (this.#disposed) return true;
    const room = this.#options.spoolBytes - this.#log.end;
    this.#log.append(stream, bytes.length > room ? bytes.subarray(0, room) : bytes);
    this.#bell.ring();
    if (bytes.length <= room || this.#end) return !this.#log.pressed;
    const detail = `It wrote more than ${this.#options.spoolBytes} bytes of output.`;
    this.#giveUp({ cause: 'output_limit', detail });
    return false;
  }

  #findReader(): Reader | null {
    return this.#tree && this.#inputFile ? findReader(this.#tree.pid, this.#inputFile) : null;
  }

  #resumeReading(): void {
    for (const capture of this.#captures) capture.resume();
  }

  #onTimeout(): void {
    void this.stop('timeout', { signal: 'SIGTERM', graceMs: this.#options.killGraceMs });
  }

  #onSpoolFailure(error: Error): void {
    const cause = error instanceof SpoolFullError ? 'output_limit' : 'spool_failed';
    this.#giveUp({ cause, detail: `Its output could not be kept: ${error.message}.` });
  }

  #giveUp(limit: LimitReached): void {
    this.#limit ??= limit;
    void this.stop(limit.cause, byForce);
  }

  async #conclude(): Promise<void> {
    const tree = this.#tree;
    if (this.#ending || !tree) return;
    this.#ending = true;
    clearTimeout(this.#timer);
    const atEnd = this.#captures.map((capture) => capture.drain()).every(Boolean);
    if (tree.certainlyEmpty() && (atEnd || !this.#session)) return this.#seal({ cause: 'exit' });
    const ends = Promise.all(this.#captures.map((capture) => capture.ended));
    const isClosed = atEnd || (await within(Promise.race([ends, tree.finished]), this.#options.drainMs));
    const left = await (isClosed ? describeSettled(tree) : tree.describe());
    if (this.#session) return this.#seal({ cause: 'exit', leftRunning: left });
    const kept = await this.#options.daemons.spare(tree, leftoverLadder);
    const survivors = kept.length > 0 ? [] : await tree.end(leftoverLadder);
    const leftRunning = left.filter(({ pid }) => !kept.some((daemon) => daemon.pid === pid));
    return this.#seal({ cause: 'exit', leftRunning, kept, survivors });
  }

  async #seal(end: Partial<JobEnd> & Pick<JobEnd, 'cause'>): Promise<void> {
    if (!this.#exit) await within(this.#exited, reapMs);
    const { code, signal } = this.#exit ?? { code: null, signal: 'SIGKILL' };
    const outputsEnd = Promise.all(this.#captures.map((capture) => capture.ended));
    // What was written to a terminal comes out on our side a moment later.
    if (this.#terminal) await within(outputsEnd, this.#options.drainMs);
    for (const capture of this.#captures) {
      capture.drain();
      if (!this.#session) capture.close();
    }
    this.#care?.onRead(this.#captures.every((capture) => !capture.isOpen()));
    this.#terminal?.forget();
    this.#input?.destroy();
    if (!this.#begun) this.#order?.drop();
    clearTimeout(this.#timer);
    if (end.cause === 'exit' || end.cause === 'timeout') this.#limit ??= await this.#judge();
    this.#watch?.end();
    const exitCode = signal ? 128 + os.signals[signal] : (code ?? 0);
    const failure = toFailure(end.cause, this.#limit);
    const found = {
      detail: null,
      leftRunning: [],
      kept: [],
      survivors: [],
      deniedHosts: this.#deniedHosts(),
    };
    const session = await this.#session;
    const value = { ...found, ...end, ...failure, exitCode, signal, session };
    this.#end = { durationMs: this.#elapsed(), value, digests: this.#log.digests() };
    // What it left running in its session may still write, and is kept for it.
    void outputsEnd.then(() => this.#log.finish()).catch(() => {});
    this.#release(value.kept.length > 0);
    this.#ended.resolve();
    this.#bell.ring();
  }

  #release(isKept: boolean): void {
    const [tree, watch] = [this.#tree, this.#watch];
    const release = () => {
      tree?.release();
      watch?.release();
    };
    if (tree && isKept) this.#options.daemons.hold(tree, release);
    // Nothing of it runs any more; whoever waits for its end is told first.
    else setImmediate(release);
  }

  // Only what really ran can have come to a limit.
  async #judge(): Promise<LimitReached | null> {
    if (!this.#watch || !this.#exit) return null;
    const tail = Math.max(0, this.#log.end - evidenceBytes);
    return this.#watch.judge(this.#exit, async () => {
      const chunks = await this.#log.read(tail, evidenceBytes).catch(() => []);
      const own = chunks.filter(({ stream }) => stream === 'stderr').map(({ data }) => data);
      return Buffer.concat(own).toString('latin1');
    });
  }

  #status(): JobStatus {
    if (!this.#end) return this.#tree ? 'running' : 'pending';
    const { cause, exitCode } = this.#end.value;
    if (cause === 'exit') return exitCode === 0 ? 'completed' : 'failed';
    return cause === 'timeout' ? 'timeout' : 'killed';
  }
}

function toWholeOrder(stdin: number, order: string) {
  return { give: () => writeWhole(stdin, order), drop: () => closeSync(stdin) };
}

async function describeSettled(tree: ProcessTree): Promise<JobEnd['leftRunning']> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; ; delayMs *= 2) {
    const left = await tree.describe();
    if (left.length === 0 || elapsed() >= settleMs) return left;
    await pause(delayMs);
  }
}

// Who ended it comes first; that it was held up by a limit until its time was over is worth a word.
function toFailure(cause: EndCause, limit: LimitReached | null): Partial<LimitReached> | null {
  if (cause === 'stopped') return null;
  if (cause !== 'timeout') return limit;
  return limit?.cause === 'processes' ? { detail: limit.detail } : null;
}

function noInput(id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${id} takes no input: it has ended, its input has been ended, or it was started without one.`,
    {
      hint: 'Start it anew with an open stdin or a terminal.',
    },
  );
}

function noTerminal(id: string): NacreError {
  return new NacreError(
    'invalid_request',
    `${id} has no terminal: only a running command that was started with pty has a size.`,
    {
      hint: 'Start it anew with pty.',
    },
  );
}

function outsideLog(from: Cursor, end: Cursor): NacreError {
  return new NacreError('invalid_request', `cursor ${from} is not in the output, which ends at ${end}.`, {
    hint: 'Use the cursor of an earlier reply, or 0 to start over.',
  });
}
