import { showCommand } from '../../contract/command.ts';
import type { JobState, JobStatus } from '../../contract/job.ts';
import type { CommandView } from '../../engine/commands/commands.ts';
import type { Shells } from './own-shells.ts';
import { createTextTail } from './text-tail.ts';

/** The life of a shell: pending, running, and then one of completed, failed, timeout and killed. */
export type ShellStatus = JobStatus;

const waitMs = 60_000;

/** A background shell as it was when it was last looked at; `readOutput` looks again. */
export class ShellProcess {
  readonly id: string;
  readonly command: string;
  readonly workingDir: string;
  /** How many characters of stdout `getNewOutput` has given out. */
  lastReadStdout = 0;
  /** The same of stderr. */
  lastReadStderr = 0;
  readonly #shells: Shells;
  readonly #stdout = createTextTail();
  readonly #stderr = createTextTail();
  #state: JobState;
  #cursor = 0;
  #looking: Promise<unknown> = Promise.resolve();

  constructor(shells: Shells, { id, command, cwd, state }: CommandView) {
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

  /** As bash would tell it; null while it runs. */
  get exitCode(): number | null {
    return this.#state.end?.exitCode ?? null;
  }

  get pid(): number | null {
    return this.#state.pid;
  }

  /** When it was started, in milliseconds since 1970. */
  get createdAt(): number {
    return Date.parse(this.#state.startedAt);
  }

  /** When it ended, in milliseconds since 1970; null while it runs. */
  get endedAt(): number | null {
    return this.isRunning ? null : this.createdAt + this.durationMs;
  }

  get durationMs(): number {
    return this.#state.durationMs;
  }

  /** The newest part of what it wrote to stdout; all of it is in the spool. */
  get stdoutBuffer(): string {
    return this.#stdout.text();
  }

  /** The same of stderr. */
  get stderrBuffer(): string {
    return this.#stderr.text();
  }

  /** Looks at the shell: its status, and what it has written since the last look. */
  readOutput(): Promise<this> {
    return this.#look(0);
  }

  /** Looks at the shell when it has ended. */
  async wait(): Promise<this> {
    while (this.isRunning) await this.#look(waitMs);
    return this;
  }

  /** Looks at the shell and gives what is new; with stderr, that comes after a line `[stderr]`. */
  async getNewOutput({ includeStderr = false } = {}): Promise<string> {
    await this.readOutput();
    const output = this.#stdout.since(this.lastReadStdout);
    this.lastReadStdout = this.#stdout.count();
    if (!includeStderr) return output;
    const errors = this.#stderr.since(this.lastReadStderr);
    this.lastReadStderr = this.#stderr.count();
    if (errors === '') return output;
    return `${output}${/[^\n]$/.test(output) ? '\n' : ''}[stderr]\n${errors}`;
  }

  /** Ends the shell with everything it started, and looks at it then. */
  async kill(): Promise<this> {
    await this.#shells.stop(this.id);
    return this.readOutput();
  }

  // One look after the other: two at once would read the same twice.
  #look(patienceMs: number): Promise<this> {
    const look = this.#looking.then(() => this.#read(patienceMs));
    this.#looking = look.catch(() => {});
    return look;
  }

  async #read(patienceMs: number): Promise<this> {
    for (let wait = patienceMs; ; wait = 0) {
      const { stdout, stderr, next, state } = await this.#shells.read(this.id, this.#cursor, wait);
      this.#stdout.append(stdout);
      this.#stderr.append(stderr);
      this.#state = state;
      if (next === this.#cursor) return this;
      this.#cursor = next;
    }
  }
}
