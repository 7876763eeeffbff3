import type { StopOptions } from '../contract/backend.ts';
import type { CommandChanges } from '../contract/changes.ts';
import { NacreError } from '../contract/failure.ts';
import type { Enforcement } from '../contract/isolation.ts';
import type {
  Cursor,
  EndCause,
  JobEnd,
  JobObservation,
  JobSpec,
  JobState,
  JobStatus,
  ReadResult,
  TerminalSize,
} from '../contract/job.ts';
import { createDeferred, createStopwatch, settlesWithin } from '../support/timing.ts';
import type { FinishedChanges } from './changes/changes-store.ts';
import { explainLayerErrors } from './changes/explain-errors.ts';
import { CommandStreams, inputClosed, noTerminal } from './command-streams.ts';
import type { Spool } from './io/spool.ts';
import { JobOutput, type ReadOptions } from './job-output.ts';
import type { LimitReached } from './limits/explain-exit.ts';
import type { ResourceWatch } from './limits/resource-watch.ts';
import { listeningPorts } from './observe/listening-ports.ts';
import type { KeptDaemons } from './processes/kept-daemons.ts';
import { type ProcessExit, sendSignal, toExit, toExitStatus } from './processes/process-exit.ts';
import { describeSettled, type ProcessTree } from './processes/process-tree.ts';
import type { JobLayer, Started } from './start/starter.ts';

/** The parts of a `Job` that it does not share with others. */
export interface JobDeps {
  readonly spool: Spool;
  /** Writes every byte to the spool as soon as it arrives. */
  readonly writesThrough?: boolean | undefined;
  /** Names of the server's variables that the job does not get, as in `JobState`. */
  readonly withheldEnv: readonly string[];
  /** As in `JobState`. */
  readonly changesNote?: string | undefined;
  /** Called if the command was ended because it changed a file that is too large for its layer. */
  readonly onTooLarge?: (() => void) | undefined;
}

/** Options that all jobs of a worker share, from `WorkerOptions`. */
export interface JobOptions {
  readonly ringBytes: number;
  readonly spoolBytes: number;
  readonly drainMs: number;
  readonly killGraceMs: number;
  readonly daemons: KeptDaemons;
}

// Short, because the caller of a one-shot command waits while its background processes are ended.
const stopLeftovers: StopOptions = { signal: 'SIGTERM', graceMs: 100 };
const stopByForce: StopOptions = { signal: 'SIGKILL', graceMs: 0 };
// A process in an uninterruptible system call survives SIGKILL; do not wait for it any longer.
const reapMs = 1_000;
const killed: ProcessExit = { code: null, signal: 'SIGKILL' };
// Programs report that they hit a limit at the end of `stderr`.
const evidenceBytes = 16_384;
const ctrlC = 0x03;
const sigxfszStatus = 128 + 25;
const tooLarge =
  'The command changed a file that is larger than changes_file_bytes, which its layer would have to copy: it was ended, and its changes are held. Raise changes_file_bytes; with changes_large: direct the same command, run again, changes files directly.';
const lostDetail =
  'The nacre process that supervised it ended, so its exit code is not known. Its processes were killed; changes that it had made by then remain.';

/**
 * One command from its start until it is disposed of:
 * 1. `attach`: its process exists, and both outputs are captured; `begin`: a waiting shell gets its launch message, and the
 *    timeout starts.
 * 2. `#conclude`: the process has exited. Its pipes are drained, processes that still have them open get `drainMs`, and
 *    what is left running is listed and ended.
 * 3. `stop` instead, after a timeout, a caller's request or a limit: the whole tree is ended first.
 * 4. `#seal`: the end is recorded, readers and waiters are woken, the output stays readable.
 */
export class Job {
  readonly #spec: JobSpec;
  readonly #withheldEnv: readonly string[];
  readonly #changesNote: string | undefined;
  readonly #onTooLarge: (() => void) | undefined;
  readonly #options: JobOptions;
  readonly #output: JobOutput;
  #startedAt = new Date().toISOString();
  #elapsed = createStopwatch();
  readonly #ended = createDeferred<void>();
  #streams: CommandStreams | null = null;
  #timer: NodeJS.Timeout | undefined;
  #tree: ProcessTree | null = null;
  #enforcement: Enforcement | null = null;
  #deniedHosts: () => readonly string[] = () => [];
  #deniedPrograms: Started['deniedPrograms'];
  #protectedUse: Started['protectedUse'];
  #watch: ResourceWatch | null = null;
  #session: Started['session'];
  #layer: Started['layer'];
  #begun = false;
  #exited: Promise<void> = Promise.resolve();
  #exit: ProcessExit | null = null;
  /** True once the job is ending; the first reason to end it decides `JobEnd.cause`. */
  #ending = false;
  #limit: LimitReached | null = null;
  #end: (Pick<JobState, 'durationMs' | 'digests'> & { readonly value: JobEnd }) | null = null;

  constructor(
    spec: JobSpec,
    { spool, writesThrough, withheldEnv, changesNote, onTooLarge }: JobDeps,
    options: JobOptions,
  ) {
    this.#spec = spec;
    this.#withheldEnv = withheldEnv;
    this.#changesNote = changesNote;
    this.#onTooLarge = onTooLarge;
    this.#options = options;
    this.#output = new JobOutput({
      spool,
      writesThrough,
      ringBytes: options.ringBytes,
      spoolBytes: options.spoolBytes,
      onRelief: () => this.#streams?.resume(),
      onLimit: (limit) => this.#stopAtLimit(limit),
    });
  }

  /** Connects the job to its process, whose shell may still wait for its launch message. */
  attach({
    process,
    tree,
    enforcement,
    deniedHosts,
    deniedPrograms,
    protectedUse,
    watch,
    session,
    layer,
  }: Started): void {
    this.#layer = layer;
    this.#tree = tree;
    this.#session = session;
    this.#enforcement = enforcement;
    if (deniedHosts) this.#deniedHosts = deniedHosts;
    this.#deniedPrograms = deniedPrograms;
    this.#protectedUse = protectedUse;
    this.#streams = new CommandStreams(process, tree.pid, this.#spec, (stream, bytes) =>
      this.#output.append(stream, bytes),
    );
    this.#watch = watch;
    this.#exited = process.exited.then((exit) => {
      this.#exit = exit;
    });
    void this.#exited.then(() => this.#conclude());
  }

  /** Runs the command: sends the launch message, if its shell waits for one, and starts the timeout. Idempotent. */
  begin(): void {
    if (this.#begun || this.#ending) return;
    const { timeoutMs } = this.#spec;
    this.#begun = true;
    this.#startedAt = new Date().toISOString();
    this.#elapsed = createStopwatch();
    this.#layer?.begin();
    this.#streams?.sendLaunchMessage();
    this.#watch?.start((reached) => this.#stopAtLimit(reached));
    if (timeoutMs !== null) this.#timer = setTimeout(() => this.#onTimeout(), timeoutMs);
  }

  /** Ends a job whose program is not executable, as a shell would: a message on `stderr` and exit code 126. */
  async refuse(reason: string): Promise<void> {
    this.#output.append('stderr', Buffer.from(`${reason}\n`));
    this.#exit = { code: 126, signal: null };
    this.#ending = true;
    await this.#seal({ cause: 'exit' });
  }

  /** The room that it shares with other commands, if it is in a sandbox. */
  get room(): string | undefined {
    return this.#spec.room;
  }

  state(): JobState {
    return {
      id: this.#spec.id,
      status: this.#status(),
      pid: this.#tree?.pid ?? null,
      startedAt: this.#startedAt,
      durationMs: Math.round(this.#end?.durationMs ?? this.#elapsed()),
      stdoutBytes: this.#output.stdoutBytes,
      stderrBytes: this.#output.stderrBytes,
      digests: this.#end?.digests,
      withheldEnv: this.#withheldEnv,
      enforcement: this.#enforcement,
      resources: this.#watch?.resources() ?? null,
      end: this.#end?.value ?? null,
      ...(this.#spec.keeping?.outlives && { outlives: true }),
      ...(this.#changesNote !== undefined && { changesNote: this.#changesNote }),
    };
  }

  /** Reads output starting at a byte position; waits up to `waitMs` if there is nothing yet. */
  read(from: Cursor, options: ReadOptions): Promise<ReadResult> {
    return this.#output.read(from, options);
  }

  async observe(): Promise<JobObservation> {
    const tree = this.#end ? null : this.#tree;
    if (!tree) return { awaitingInput: false, listening: [] };
    const awaitingInput = this.awaitsInput();
    const view = await tree.sample();
    this.#watch?.record(view);
    const listening = listeningPorts(view.commandProcesses.map(({ pid }) => pid));
    const reader = awaitingInput ? this.#streams?.readerName() : undefined;
    return { awaitingInput, listening, ...(reader !== undefined && { reader }) };
  }

  /** True while one of its processes is blocked reading its `stdin` or terminal. */
  awaitsInput(): boolean {
    return !this.#end && this.#streams?.awaitsInput() === true;
  }

  /** Waits up to `waitMs` for the end. */
  async wait(waitMs: number): Promise<JobState> {
    // `setTimeout` with 0 ms still takes 1 ms.
    if (!this.#end && waitMs > 0) await settlesWithin(this.#ended.promise, waitMs);
    return this.state();
  }

  /** Writes to the command's `stdin`; resolves when the data has been written, or when the command has closed it. */
  async write(data: Uint8Array, { eof = false } = {}): Promise<void> {
    if (!this.#streams || this.#end) throw inputClosed(this.#spec.id);
    await this.#streams.write(data, eof);
  }

  resize(size: TerminalSize): void {
    if (!this.#streams) throw noTerminal(this.#spec.id);
    this.#streams.resize(size);
  }

  /** Types Ctrl-C at the terminal; without one, sends SIGINT to every process of the command. */
  async interrupt(): Promise<void> {
    if (this.#end) return;
    if (this.#streams?.hasTerminal) return this.#streams.press(ctrlC);
    const view = await this.#tree?.scan();
    for (const { pid } of view?.commandProcesses ?? []) sendSignal(pid, 'SIGINT');
  }

  /** Ends the whole process tree; resolves when `ProcessTree.end` has confirmed that it is gone. */
  async stop(cause: EndCause, options: StopOptions): Promise<JobState> {
    if (!this.#ending) {
      this.#ending = true;
      const survivors = (await this.#tree?.end(options)) ?? [];
      await this.#seal({ cause, survivors });
    } else if (!this.#end) {
      // A second `stop` with a shorter `graceMs` does not wait for the first.
      await this.#tree?.end(options);
    }
    await this.#ended.promise;
    return this.state();
  }

  /** Resolves when all its output so far is on disk, if it is written through. */
  written(): Promise<void> {
    return this.#output.written();
  }

  dispose(): Promise<void> {
    return this.#output.dispose();
  }

  #onTimeout(): void {
    void this.stop('timeout', { signal: 'SIGTERM', graceMs: this.#options.killGraceMs });
  }

  #stopAtLimit(limit: LimitReached): void {
    this.#limit ??= limit;
    void this.stop(limit.cause, stopByForce);
  }

  async #conclude(): Promise<void> {
    const [tree, streams] = [this.#tree, this.#streams];
    if (this.#ending || !tree || !streams) return;
    if (this.#exit?.isLost) return void this.stop('supervision_lost', stopByForce);
    this.#ending = true;
    clearTimeout(this.#timer);
    const atEnd = streams.drain();
    if (tree.certainlyEmpty() && (atEnd || !this.#session)) return this.#seal({ cause: 'exit' });
    const isClosed =
      atEnd || (await settlesWithin(Promise.race([streams.ended(), tree.finished]), this.#options.drainMs));
    const left = await (isClosed ? describeSettled(tree) : tree.describe());
    if (this.#session) return this.#seal({ cause: 'exit', leftRunning: left });
    // A daemon would keep writing to the layer while it is applied.
    const kept = this.#layer ? [] : await this.#options.daemons.endOthers(tree, stopLeftovers);
    const survivors = kept.length > 0 ? [] : await tree.end(stopLeftovers);
    const leftRunning = left.filter(({ pid }) => !kept.some((daemon) => daemon.pid === pid));
    return this.#seal({ cause: 'exit', leftRunning, kept, survivors });
  }

  async #seal(end: Partial<JobEnd> & Pick<JobEnd, 'cause'>): Promise<void> {
    if (!this.#exit) await settlesWithin(this.#exited, reapMs);
    const outputsEnd = this.#streams?.ended();
    // Output of a terminal arrives at its master side a moment after the exit.
    if (outputsEnd && this.#streams?.hasTerminal) await settlesWithin(outputsEnd, this.#options.drainMs);
    this.#streams?.finish(this.#session !== undefined);
    if (!this.#begun) this.#streams?.dropLaunchMessage();
    clearTimeout(this.#timer);
    if (end.cause === 'exit' || end.cause === 'timeout') this.#limit ??= await this.#findLimit();
    this.#watch?.stop();
    const stderr = await this.#errorEnd();
    const deniedPrograms = this.#findDeniedPrograms(stderr);
    const protectedUse = this.#protectedUse?.(stderr);
    const session = await this.#session;
    const changes = this.#layer && (await this.#finishChanges(this.#layer, stderr));
    const value = { ...this.#toEnd(end), deniedPrograms, protectedUse, session, ...changes };
    const digests = await this.#output.digests();
    this.#end = { durationMs: this.#elapsed(), value, digests };
    // Background processes in a session may still write, so `finish` waits for EOF.
    void Promise.resolve(outputsEnd)
      .then(() => this.#output.finish())
      .catch(() => {});
    this.#release(value.kept.length > 0);
    this.#ended.resolve();
    this.#output.seal();
  }

  // A failure here does not change how the command has ended.
  async #finishChanges(layer: JobLayer, stderr: string): Promise<Pick<JobEnd, 'changes' | 'changesNote'>> {
    try {
      // A persistent shell reports the signal of its last program as a status.
      const isTooLarge = this.#exit?.signal === 'SIGXFSZ' || this.#exit?.code === sigxfszStatus;
      if (isTooLarge) this.#onTooLarge?.();
      const problem = isTooLarge ? tooLarge : explainLayerErrors(stderr, this.#spec.cwd);
      const finished = await layer.finish(isTooLarge);
      const notes = [problem, finished?.problem, layer.note].filter((note) => note !== undefined);
      const changesNote = notes.join(' ');
      return {
        ...(finished && { changes: toChanges(finished) }),
        ...(changesNote !== '' && { changesNote }),
      };
    } catch (error) {
      return { changesNote: error instanceof NacreError ? describeError(error) : String(error) };
    }
  }

  #toEnd(end: Partial<JobEnd> & Pick<JobEnd, 'cause'>): JobEnd {
    const reported = this.#exit && !this.#exit.isLost ? this.#exit : killed;
    // A persistent shell reports only a status; of a stopped command, 128+N is the signal that ended it.
    const isStatus = end.cause === 'stopped' && this.#spec.session !== undefined && reported.code !== null;
    const exit = isStatus ? toExit(reported.code) : reported;
    const isLost = end.cause === 'supervision_lost';
    return {
      detail: isLost ? lostDetail : null,
      leftRunning: [],
      kept: [],
      survivors: [],
      deniedHosts: this.#deniedHosts(),
      ...end,
      ...toFailure(end.cause, this.#limit),
      exitCode: isLost ? null : toExitStatus(exit),
      signal: isLost ? null : exit.signal,
    };
  }

  // Most commands print nothing on stderr, which costs them nothing here.
  async #errorEnd(): Promise<string> {
    // A command at a terminal has its error messages on stdout.
    const stream = this.#streams?.hasTerminal ? 'stdout' : 'stderr';
    const isRead = [this.#deniedPrograms, this.#protectedUse, this.#layer].some((one) => one !== undefined);
    if (!isRead || this.#output[`${stream}Bytes`] === 0) return '';
    return Buffer.from(await this.#output.tailOf(stream, evidenceBytes), 'latin1').toString();
  }

  #findDeniedPrograms(stderr: string): readonly string[] | undefined {
    if (!this.#deniedPrograms || stderr === '') return undefined;
    const { command, cwd } = this.#spec;
    const found = this.#deniedPrograms({
      exitCode: toExitStatus(this.#exit ?? killed),
      stderr,
      script: command.kind === 'shell' ? command.script : '',
      cwd,
    });
    return found.length > 0 ? found : undefined;
  }

  #release(isKept: boolean): void {
    const [tree, watch] = [this.#tree, this.#watch];
    const release = () => {
      tree?.release();
      watch?.release();
    };
    if (tree && isKept) this.#options.daemons.adopt(tree, release);
    // Cleaning up is not urgent, because no process is left; resolve `wait` first.
    else setImmediate(release);
  }

  // Without a `ResourceWatch` there was no process that could have hit a limit.
  async #findLimit(): Promise<LimitReached | null> {
    if (!this.#watch || !this.#exit) return null;
    return this.#watch.explainExit(this.#exit, () => this.#output.tailOf('stderr', evidenceBytes));
  }

  #status(): JobStatus {
    if (!this.#end) return this.#tree ? 'running' : 'pending';
    const { cause, exitCode } = this.#end.value;
    if (cause === 'exit') return exitCode === 0 ? 'completed' : 'failed';
    return cause === 'timeout' ? 'timeout' : 'killed';
  }
}

// An explicit `stop` wins over a limit; after a timeout only `maxProcesses` is kept, as `detail`.
function toFailure(cause: EndCause, limit: LimitReached | null): Partial<LimitReached> | null {
  if (cause === 'stopped') return null;
  if (cause !== 'timeout') return limit;
  return limit?.cause === 'processes' ? { detail: limit.detail } : null;
}

function toChanges({ problem: _problem, ...changes }: FinishedChanges): CommandChanges {
  return changes;
}

function describeError({ message, hint = '' }: NacreError): string {
  return `${message} ${hint}`.trim();
}
