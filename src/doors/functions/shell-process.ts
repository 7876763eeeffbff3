import { z } from 'zod';
import { showCommand } from '../../contract/command.ts';
import { cancelled, NacreError } from '../../contract/failure.ts';
import type { JobState, Stream } from '../../contract/job.ts';
import type { CommandView } from '../../engine/commands/commands.ts';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { receive } from '../../tools/common/define-tool.ts';
import { joinStreams } from '../../tools/common/describe-outcome.ts';
import type { BackgroundShells } from './background-shells.ts';
import { type ShellStatus, toShellStatus } from './constants.ts';
import { signalSchema } from './execution-context.ts';
import { createTextTail, tailChars } from './text-tail.ts';

/** Options of `ShellProcess.wait`. */
export interface ShellWaitOptions {
  /** Kills the shell after this time, with the status `timeout`; no limit by default. */
  readonly timeoutMs?: number | undefined;
  /** Ends the wait, which then rejects with the code `cancelled`; the shell keeps running. */
  readonly signal?: AbortSignal | undefined;
}

/** Options of `ShellProcess.getNewOutput`. */
export interface NewOutputOptions {
  /** Also returns new stderr. */
  readonly includeStderr?: boolean | undefined;
}

const maxWaitMs = 60_000;
// After `signal` aborts, a pending timer lasts at most this long.
const tickMs = 1_000;
// Long enough that a program sees a newly created shell as running, even if it has already exited.
const exitDelayMs = 1_000;

/**
 * A background shell as of the last update. `readOutput`, `wait`, `getNewOutput` and `kill` update it; its status also
 * changes by itself: at once if the shell is killed, and within about a second if it exits.
 */
export class ShellProcess {
  readonly id: string;
  readonly command: string;
  readonly workingDir: string;
  /** Number of stdout characters that `getNewOutput` has returned; set it to read again from there. */
  lastReadStdout = 0;
  /** Number of stderr characters that `getNewOutput` has returned; set it to read again from there. */
  lastReadStderr = 0;
  readonly #shells: BackgroundShells;
  readonly #buffers = { stdout: createTextTail(), stderr: createTextTail() };
  readonly #returned = { stdout: 0, stderr: 0 };
  #state: JobState;
  #cursor = 0;
  #updating: Promise<unknown> = Promise.resolve();

  constructor(shells: BackgroundShells, { id, command, cwd, state }: CommandView) {
    this.id = id;
    this.command = showCommand(command);
    this.workingDir = cwd;
    this.#shells = shells;
    this.#state = state;
    // Rejects once the shell is forgotten or its instance closed, after which nothing changes.
    if (state.end === null) this.#followToEnd().catch(() => {});
  }

  get status(): ShellStatus {
    return toShellStatus(this.#state.status);
  }

  get isRunning(): boolean {
    return this.#state.end === null;
  }

  /** Exit status as in bash: 128 + N after death by signal N; null while `isRunning`. */
  get exitCode(): number | null {
    return this.#state.end?.exitCode ?? null;
  }

  get pid(): number | null {
    return this.#state.pid;
  }

  /** Start time in milliseconds since 1970. */
  get createdAt(): number {
    return Date.parse(this.#state.startedAt);
  }

  /** End time in milliseconds since 1970; null while `isRunning`. */
  get endedAt(): number | null {
    return this.isRunning ? null : this.createdAt + this.durationMs;
  }

  get durationMs(): number {
    return this.#state.durationMs;
  }

  /** The newest part of stdout; the spool has all of it. */
  get stdoutBuffer(): string {
    return this.#buffers.stdout.text();
  }

  /** The newest part of stderr; the spool has all of it. */
  get stderrBuffer(): string {
    return this.#buffers.stderr.text();
  }

  /** Updates the status, and the buffers with the newest output. */
  readOutput(): Promise<this> {
    return this.#inTurn(async () => {
      await this.#update();
      return this;
    });
  }

  /** Waits until the shell has ended; `status` and the buffers are final then. A number is `timeoutMs`. */
  async wait(options: number | ShellWaitOptions = {}): Promise<this> {
    const { timeoutMs, signal } = toWaitOptions(options);
    const elapsed = createStopwatch();
    while (this.isRunning) {
      if (signal?.aborted) throw cancelled(`The wait for ${this.id} was cancelled; it keeps running.`);
      const leftMs = timeoutMs === undefined ? maxWaitMs : Math.max(0, timeoutMs - elapsed());
      await this.#awaitEnd(Math.min(leftMs, maxWaitMs), signal);
      if (this.isRunning && timeoutMs !== undefined && elapsed() >= timeoutMs)
        this.#state = (await this.#shells.stop(this.id, 'timeout')).state;
    }
    return this.readOutput().catch((error) => this.#acceptClosed(error));
  }

  /**
   * Updates the shell and returns all of its output since the last call, or since `BashOutput` read it: they share one
   * position. With `true` or `includeStderr`, stderr follows after a line `[stderr]`.
   */
  async getNewOutput(options: boolean | NewOutputOptions = {}): Promise<string> {
    const { includeStderr = false } =
      typeof options === 'boolean'
        ? { includeStderr: options }
        : receive('getNewOutput', newOutputSchema, options);
    return this.#inTurn(async () => {
      await this.#update();
      const output = await this.#takeStdout();
      return includeStderr ? joinStreams(output, await this.#takeStderr()) : output;
    });
  }

  /** Kills the shell with its process tree, then updates it. */
  async kill(): Promise<this> {
    if (!this.isRunning) return this;
    this.#state = (await this.#shells.stop(this.id)).state;
    return this.readOutput();
  }

  // Steps run one at a time, because two concurrent reads would return or append the same output twice.
  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const result = this.#updating.then(step);
    this.#updating = result.catch(() => {});
    return result;
  }

  async #update(): Promise<void> {
    const { state } = await this.#shells.waitForEnd(this.id, 0);
    const unread = state.stdoutBytes + state.stderrBytes - this.#cursor;
    // The buffers have only the newest output, so older output is not worth decoding.
    if (unread > 4 * tailChars) await this.#skipToEnd();
    else await this.#readOn();
    this.#state = state;
  }

  async #skipToEnd(): Promise<void> {
    const { stdout, stderr, next } = await this.#shells.readEnd(this.id, 2 * tailChars);
    this.#buffers.stdout.restart(stdout);
    this.#buffers.stderr.restart(stderr);
    this.#cursor = next;
  }

  async #readOn(): Promise<void> {
    for (;;) {
      const { stdout, stderr, next } = await this.#shells.readFrom(this.id, this.#cursor);
      this.#buffers.stdout.append(stdout);
      this.#buffers.stderr.append(stderr);
      if (next === this.#cursor) return;
      this.#cursor = next;
    }
  }

  async #takeStdout(): Promise<string> {
    const text = await this.#take('stdout', this.lastReadStdout);
    this.lastReadStdout += text.length;
    this.#returned.stdout = this.lastReadStdout;
    return text;
  }

  async #takeStderr(): Promise<string> {
    const text = await this.#take('stderr', this.lastReadStderr);
    this.lastReadStderr += text.length;
    this.#returned.stderr = this.lastReadStderr;
    return text;
  }

  async #take(stream: Stream, lastRead: number): Promise<string> {
    if (lastRead === this.#returned[stream]) return this.#shells.readNew(this.id, stream);
    return (await this.#shells.readAll(this.id, stream)).slice(lastRead);
  }

  async #awaitEnd(ms: number, signal: AbortSignal | undefined): Promise<void> {
    const ended = this.#shells.waitForEnd(this.id, signal ? Math.min(ms, tickMs) : ms);
    const found = await (signal ? Promise.race([ended, sleep(tickMs, signal)]) : ended);
    if (found?.state.end) this.#state = found.state;
  }

  async #followToEnd(): Promise<void> {
    for (;;) {
      const { state } = await this.#shells.waitForEnd(this.id, maxWaitMs);
      if (state.end?.cause === 'exit') await sleep(exitDelayMs);
      if (state.end) {
        this.#state = state;
        return;
      }
    }
  }

  #acceptClosed(error: unknown): this {
    if (error instanceof NacreError && error.code === 'closed') return this;
    throw error;
  }
}

const newOutputSchema = z.strictObject({ includeStderr: z.boolean().optional() });

const waitSchema = z.strictObject({
  timeoutMs: z.custom<number>((value) => typeof value === 'number', 'must be a number').optional(),
  signal: signalSchema.optional(),
});

// With an unknown field, such as `timeout`, a program would wait without a limit.
function toWaitOptions(options: number | ShellWaitOptions): ShellWaitOptions {
  const given = typeof options === 'number' ? { timeoutMs: options } : options;
  const { timeoutMs, signal } = receive('wait', waitSchema, given);
  if (timeoutMs !== undefined && !(timeoutMs >= 0)) throw badTimeout(timeoutMs);
  return { timeoutMs, signal };
}

function badTimeout(value: unknown): NacreError {
  return new NacreError('invalid_request', `timeoutMs must be at least 0, not ${String(value)}.`, {
    hint: 'Pass the number of milliseconds after which the shell is killed.',
  });
}
