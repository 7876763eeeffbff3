import { showCommand } from '../../contract/command.ts';
import type { JobState, JobStatus } from '../../contract/job.ts';
import type { CommandView } from '../../engine/commands/commands.ts';
import { joinStreams } from '../../tools/common/describe-outcome.ts';
import type { BackgroundShells } from './background-shells.ts';
import { createTextTail } from './text-tail.ts';

/** Status of a shell: pending, running, then completed, failed, timeout or killed. */
export type ShellStatus = JobStatus;

const maxWaitMs = 60_000;

/** A background shell as of the last update; `readOutput` updates it. */
export class ShellProcess {
  readonly id: string;
  readonly command: string;
  readonly workingDir: string;
  /** Number of stdout characters that `getNewOutput` has returned. */
  lastReadStdout = 0;
  /** Number of stderr characters that `getNewOutput` has returned. */
  lastReadStderr = 0;
  readonly #shells: BackgroundShells;
  readonly #stdout = createTextTail();
  readonly #stderr = createTextTail();
  #state: JobState;
  #cursor = 0;
  #updating: Promise<unknown> = Promise.resolve();

  constructor(shells: BackgroundShells, { id, command, cwd, state }: CommandView) {
    this.id = id;
    this.command = showCommand(command);
    this.workingDir = cwd;
    this.#shells = shells;
    this.#state = state;
  }

  get status(): ShellStatus {
    return this.#state.status;
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
    return this.#stdout.text();
  }

  /** The newest part of stderr; the spool has all of it. */
  get stderrBuffer(): string {
    return this.#stderr.text();
  }

  /** Updates the status, and reads the output since the last update. */
  readOutput(): Promise<this> {
    return this.#update(0);
  }

  /** Waits until the shell has ended; `status` and the buffers are final then. */
  async wait(): Promise<this> {
    while (this.isRunning) await this.#update(maxWaitMs);
    return this;
  }

  /** Updates the shell and returns its new output; stderr follows after a line `[stderr]`. */
  async getNewOutput({ includeStderr = false } = {}): Promise<string> {
    await this.readOutput();
    const output = this.#stdout.since(this.lastReadStdout);
    this.lastReadStdout = this.#stdout.count();
    if (!includeStderr) return output;
    const errors = this.#stderr.since(this.lastReadStderr);
    this.lastReadStderr = this.#stderr.count();
    return joinStreams(output, errors);
  }

  /** Kills the shell with its process tree, then updates it. */
  async kill(): Promise<this> {
    await this.#shells.stop(this.id);
    return this.readOutput();
  }

  // One `#read` at a time: two concurrent ones would append the same output twice.
  #update(waitMs: number): Promise<this> {
    const update = this.#updating.then(() => this.#read(waitMs));
    this.#updating = update.catch(() => {});
    return update;
  }

  async #read(waitMs: number): Promise<this> {
    for (let wait = waitMs; ; wait = 0) {
      const { stdout, stderr, next, state } = await this.#shells.read(this.id, this.#cursor, wait);
      this.#stdout.append(stdout);
      this.#stderr.append(stderr);
      this.#state = state;
      if (next === this.#cursor) return this;
      this.#cursor = next;
    }
  }
}
