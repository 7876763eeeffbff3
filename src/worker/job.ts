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
import { createStopwatch } from '../support/stopwatch.ts';
import { within } from '../support/within.ts';
import { Connection, noInput, noTerminal } from './connection.ts';
import { createOutputLog, type OutputLog } from './io/output-log.ts';
import { type Spool, SpoolFullError } from './io/spool.ts';
import type { Watch } from './limits/create-watch.ts';
import type { LimitReached } from './limits/judge-end.ts';
import { listeningPorts } from './look/listening-ports.ts';
import { describeSettled } from './processes/describe-settled.ts';
import type { KeptDaemons } from './processes/kept-daemons.ts';
import type { ProcessTree } from './processes/process-tree.ts';
import { sendSignal } from './processes/send-signal.ts';
import type { ProcessExit } from './start/start-process.ts';
import type { Started } from './start/starter.ts';

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

// What a one-shot command leaves running gets a moment to end politely; its caller is waiting for the answer.
const leftoverLadder: StopOptions = { signal: 'SIGTERM', graceMs: 100 };
// A killed process is reaped at once; one that the kernel does not let go of would keep us waiting for ever.
const reapMs = 1_000;
// What a program says of a limit stands at the end of its output.
const evidenceBytes = 16_384;
// Ctrl-C at a terminal.
const interruptKey = 0x03;
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
  #connection: Connection | null = null;
  #timer: NodeJS.Timeout | undefined;
  #tree: ProcessTree | null = null;
  #enforcement: Enforcement | null = null;
  #deniedHosts: () => readonly string[] = () => [];
  #watch: Watch | null = null;
  #session: Started['session'];
  #begun = false;
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
      onRelief: () => this.#connection?.resume(),
      onSpoolFailure: (error) => this.#onSpoolFailure(error),
    });
  }

  /** Takes charge of a process that has just started, and may wait for its order. */
  attach({ process, tree, enforcement, deniedHosts, watch, session }: Started): void {
    this.#tree = tree;
    this.#session = session;
    this.#enforcement = enforcement;
    if (deniedHosts) this.#deniedHosts = deniedHosts;
    this.#connection = new Connection(process, tree.pid, this.#spec, (stream, bytes) =>
      this.#take(stream, bytes),
    );
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
    this.#connection?.giveOrder();
    this.#watch?.begin((reached) => this.#giveUp(reached));
    if (timeoutMs !== null) this.#timer = setTimeout(() => this.#onTimeout(), timeoutMs);
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
    return !this.#end && this.#connection?.awaitsInput() === true;
  }

  /** Waits up to `waitMs` for the end. */
  async wait(waitMs: number): Promise<JobState> {
    // A timer of no time takes a millisecond all the same.
    if (!this.#end && waitMs > 0) await within(this.#ended.promise, waitMs);
    return this.state();
  }

  /** Writes to the command's stdin; resolves when the command has taken it or does not want it any more. */
  async write(data: Uint8Array, { eof = false } = {}): Promise<void> {
    if (!this.#connection || this.#end) throw noInput(this.#spec.id);
    await this.#connection.write(data, eof);
  }

  /** Changes the size of its terminal. */
  resize(size: TerminalSize): void {
    if (!this.#connection) throw noTerminal(this.#spec.id);
    this.#connection.resize(size);
  }

  /** Does what Ctrl-C does: the terminal sees to it, or else every process of the command gets the signal. */
  async interrupt(): Promise<void> {
    if (this.#end) return;
    if (this.#connection?.hasTerminal) return this.#connection.press(interruptKey);
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
    const [tree, connection] = [this.#tree, this.#connection];
    if (this.#ending || !tree || !connection) return;
    this.#ending = true;
    clearTimeout(this.#timer);
    const atEnd = connection.drain();
    if (tree.certainlyEmpty() && (atEnd || !this.#session)) return this.#seal({ cause: 'exit' });
    const isClosed =
      atEnd || (await within(Promise.race([connection.ended(), tree.finished]), this.#options.drainMs));
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
    const connection = this.#connection;
    const outputsEnd = connection?.ended();
    // What was written to a terminal comes out on our side a moment later.
    if (outputsEnd && connection?.hasTerminal) await within(outputsEnd, this.#options.drainMs);
    connection?.finish(this.#session !== undefined);
    if (!this.#begun) connection?.dropOrder();
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
    void Promise.resolve(outputsEnd)
      .then(() => this.#log.finish())
      .catch(() => {});
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

// Who ended it comes first; that it was held up by a limit until its time was over is worth a word.
function toFailure(cause: EndCause, limit: LimitReached | null): Partial<LimitReached> | null {
  if (cause === 'stopped') return null;
  if (cause !== 'timeout') return limit;
  return limit?.cause === 'processes' ? { detail: limit.detail } : null;
}

function outsideLog(from: Cursor, end: Cursor): NacreError {
  return new NacreError('invalid_request', `cursor ${from} is not in the output, which ends at ${end}.`, {
    hint: 'Use the cursor of an earlier reply, or 0 to start over.',
  });
}
