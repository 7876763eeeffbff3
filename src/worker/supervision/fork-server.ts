import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { getSystemErrorName } from 'node:util';
import { createDeferred, type Deferred, settlesWithin } from '../../support/timing.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import { continueWhileStopped } from '../processes/continue-helpers.ts';
import { childrenOf } from '../processes/descendants.ts';
import { isDying } from '../processes/proc-process-table.ts';
import { fromWaitStatus, lostExit, type ProcessExit, sendSignal } from '../processes/process-exit.ts';
import {
  encodeForkRequest,
  type ForkReply,
  type ForkRequest,
  findForkServer,
  lifelineFd,
  parseForkReply,
  retireMessage,
} from './fork-server-script.ts';

/** The descriptor, in addition to 0 to 4, by which the init process keeps the status pipe open (`bwrap --sync-fd`). */
export const heldFd = 5;

/** The time limits of a `ForkServer`. */
export interface ForkServerLimits {
  /** How long a start may take; after that the fork server is killed. */
  readonly startMs: number;
  /** How long `close` waits for its exit before it is killed. */
  readonly closeMs: number;
}

const defaultLimits: ForkServerLimits = { startMs: 10_000, closeMs: 2_000 };
const maxRetired = 4;
// How long to wait for the last replies of an exited fork server.
const readMs = 1_000;

/** The dependencies of `ForkServer`. */
export interface ForkServerDeps {
  /** The command line that enters the network namespace of a room, if the fork server belongs to one. */
  readonly enter?: readonly string[] | undefined;
  /** The reading end of the `Lifeline`, for programs that copy `lifelineFd`. */
  lifeline?(): Promise<number>;
  /** The environment of the fork server itself. */
  readonly env: Readonly<Record<string, string>>;
  readonly limits?: ForkServerLimits | undefined;
  /** The command line of the program, `findForkServer` by default; tests replace it. */
  readonly program?: readonly [string, ...string[]] | undefined;
}

/** A program that a fork server has started. */
export interface Forked {
  readonly pid: number;
  /** How it ended; `isLost` if the fork server ended first. */
  readonly exited: Promise<ProcessExit>;
}

/** Thrown if the fork server has certainly started nothing, so that the program may be started in another way. */
export class NotForkedError extends Error {}

/**
 * A perl script that starts processes for Node, reaps them and reports their exit. fork() copies the page tables of all of
 * Node's memory, which blocks the event loop for milliseconds; perl has almost no memory, and forks in a tenth of the time.
 * It is started at the first use, and again if it has ended or its resource limits were changed.
 */
export class ForkServer {
  readonly #deps: ForkServerDeps;
  readonly #limits: ForkServerLimits;
  readonly #program: readonly [string, ...string[]] | undefined;
  #process: ForkServerProcess | null = null;
  /** Replaced fork servers, which start nothing and exit once their programs have ended; the oldest first. */
  #retired: readonly ForkServerProcess[] = [];
  #generation = 0;
  #isClosed = false;

  constructor(deps: ForkServerDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? defaultLimits;
    this.#program = deps.program ?? findForkServer();
  }

  /** False if this machine has no perl; then `start` throws. */
  get isAvailable(): boolean {
    return this.#program !== undefined;
  }

  /**
   * A number that changes when programs that were started before cannot be used like the next ones: they have other resource limits, or
   * they are dying, because the fork server was killed. On a busy machine a namespace still answers for some milliseconds after that.
   */
  get generation(): number {
    this.#forgetIfDead();
    this.#retireIfLimited();
    return this.#generation;
  }

  /**
   * The orphans that it has adopted; empty while a program is being started, because the program could be mistaken for
   * an orphan.
   */
  adopted(): readonly number[] {
    const all = [...this.#retired, ...(this.#process ? [this.#process] : [])];
    return all.flatMap((one) => one.adopted());
  }

  /**
   * Starts a program. Throws `NotForkedError` if it certainly was not started, for example because of EAGAIN. Any other
   * error means that the fork server was lost, and with it the answer.
   */
  async start(request: ForkRequest): Promise<Forked> {
    if (this.#isClosed) throw new NotForkedError('the fork server is closed');
    if (!this.#program) throw new NotForkedError('perl is missing');
    const lifeline = await this.#deps.lifeline?.();
    this.#forgetIfDead();
    this.#retireIfLimited();
    this.#process ??= this.#spawn(this.#program, lifeline);
    return this.#process.start(request, this.#limits.startMs);
  }

  /** Runs a program without input and output for at most `limitMs`; returns whether it has exited with 0. */
  async run(argv: readonly string[], limitMs: number): Promise<boolean> {
    const { pid, exited } = await this.start({ argv, env: {}, cwd: '/', files: [] });
    if (await settlesWithin(exited, limitMs)) return (await exited).code === 0;
    sendSignal(pid, 'SIGKILL');
    return false;
  }

  /** Ends the process by EOF on its `stdin`; programs that it started and that still run are killed. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#retired, ...(this.#process ? [this.#process] : [])];
    await Promise.all(all.map((one) => one.close(this.#limits.closeMs)));
  }

  #forgetIfDead(): void {
    if (!this.#process || (this.#process.lives() && !this.#process.isDying())) return;
    this.#process = null;
    this.#generation += 1;
  }

  // A fork server that is replaced stays until its commands have ended, unless there are too many of these.
  #retireIfLimited(): void {
    const process = this.#process;
    if (!process?.lives() || !process.hasOtherLimits()) return;
    process.retire();
    const living = [...this.#retired.filter((one) => one.lives()), process];
    for (const one of living.slice(0, -maxRetired)) void one.close(this.#limits.closeMs);
    this.#retired = living;
    this.#process = null;
    this.#generation += 1;
  }

  #spawn(program: readonly string[], lifeline: number | undefined): ForkServerProcess {
    const { enter = [], env } = this.#deps;
    return new ForkServerProcess([...enter, ...program], env, lifeline);
  }
}

class ForkServerProcess {
  readonly #child: ChildProcess;
  readonly #starting = new Map<number, Deferred<Forked>>();
  readonly #running = new Map<number, { readonly pid: number; readonly exited: Deferred<ProcessExit> }>();
  readonly #gone: Promise<void>;
  readonly #resourceLimits: () => string;
  readonly #firstLimits: string;
  readonly #stat: () => string;
  #requests = 0;

  constructor(argv: readonly string[], env: ForkServerDeps['env'], lifeline: number | undefined) {
    const [program = '', ...args] = argv;
    const inherited = withoutInherited(['ignore', 'ignore', 'ignore', lifeline ?? 'ignore']).slice(
      lifelineFd,
    );
    // Without PERL_BADLANG=0, perl warns about a locale that is not installed.
    this.#child = spawn(program, args, {
      cwd: '/',
      env: { ...env, PERL_BADLANG: '0', PERL5OPT: '' },
      detached: true,
      stdio: ['pipe', 'pipe', 'ignore', ...inherited],
    });
    this.#gone = new Promise<void>((resolve) => {
      const end = () => {
        this.#lose();
        resolve();
      };
      // Exits that it has reported may still be in the pipe, which `close` follows.
      const read = new Promise<void>((onRead) => this.#child.once('close', () => onRead()));
      this.#child.once('exit', () => void settlesWithin(read, readMs).then(end));
      this.#child.once('error', end);
    });
    readLines(this.#child, (line) => this.#onReply(parseForkReply(line)));
    this.#child.stdin?.on('error', () => {});
    if (this.#child.pid !== undefined) void this.#gone.then(continueWhileStopped(this.#child.pid));
    this.#resourceLimits = openProcessFile(this.#child.pid, 'limits', this.#gone);
    this.#firstLimits = this.#resourceLimits();
    this.#stat = openProcessFile(this.#child.pid, 'stat', this.#gone);
  }

  /**
   * True if its resource limits (prlimit(2)) are not those that it was started with. Programs would inherit them: without memory
   * they die when they are executed, and with a limit on processes or files a command fails for a reason that is not its own.
   */
  hasOtherLimits(): boolean {
    return this.#resourceLimits() !== this.#firstLimits;
  }

  async start(request: ForkRequest, startMs: number): Promise<Forked> {
    if (!this.lives()) throw new NotForkedError('the fork server could not be started');
    const id = this.#requests++;
    const message = encodeForkRequest(id, request);
    const started = createDeferred<Forked>();
    this.#starting.set(id, started);
    this.#child.stdin?.write(message);
    // It is killed, because otherwise it could still read a request and start a program that no caller waits for.
    if (!(await settlesWithin(started.promise, startMs))) this.#kill();
    return started.promise;
  }

  lives(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /**
   * True once it has been sent SIGKILL, milliseconds before Node reports its exit; until then its programs still
   * answer.
   */
  isDying(): boolean {
    return isDying(this.#stat());
  }

  adopted(): readonly number[] {
    const { pid } = this.#child;
    if (pid === undefined || !this.lives() || this.#starting.size > 0) return [];
    const started = new Set([...this.#running.values()].map((one) => one.pid));
    return childrenOf(pid).filter((child) => !started.has(child));
  }

  /** Lets it exit when everything that it has started, and the orphans that it has adopted, have ended. */
  retire(): void {
    this.#child.stdin?.write(retireMessage);
  }

  async close(closeMs: number): Promise<void> {
    this.#child.stdin?.end();
    if (await settlesWithin(this.#gone, closeMs)) return;
    this.#kill();
    await settlesWithin(this.#gone, closeMs);
  }

  #kill(): void {
    if (this.lives()) sendSignal(this.#child.pid, 'SIGKILL');
  }

  #onReply(reply: ForkReply | undefined): void {
    if (reply?.kind === 'exited') {
      this.#running.get(reply.id)?.exited.resolve(fromWaitStatus(reply.status));
      this.#running.delete(reply.id);
      return;
    }
    const starting = reply && this.#starting.get(reply.id);
    if (!reply || !starting) return;
    this.#starting.delete(reply.id);
    if (reply.kind === 'failed') {
      starting.reject(new NotForkedError(`${reply.step}: ${toErrorName(reply.errno)}`));
      return;
    }
    const exited = createDeferred<ProcessExit>();
    this.#running.set(reply.id, { pid: reply.pid, exited });
    starting.resolve({ pid: reply.pid, exited: exited.promise });
  }

  #lose(): void {
    for (const one of this.#starting.values()) one.reject(new Error('the fork server has exited'));
    for (const { exited } of this.#running.values()) exited.resolve(lostExit);
    this.#starting.clear();
    this.#running.clear();
  }
}

function toErrorName(errno: number): string {
  try {
    return getSystemErrorName(-errno);
  } catch {
    return `errno ${errno}`;
  }
}

function readLines({ stdout }: ChildProcess, onLine: (line: string) => void): void {
  let rest = '';
  stdout?.setEncoding('latin1').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

// Reading an open file takes a sixth of the time that opening and reading it takes.
function openProcessFile(
  pid: number | undefined,
  name: 'limits' | 'stat',
  gone: Promise<void>,
): () => string {
  const buffer = Buffer.alloc(4_096);
  try {
    const file = openSync(`/proc/${pid}/${name}`, 'r');
    let isOpen = true;
    void gone.then(() => {
      isOpen = false;
      closeSync(file);
    });
    return () => (isOpen ? readText(file, buffer) : '');
  } catch {
    return () => '';
  }
}

// The process may have been reaped already: ESRCH.
function readText(file: number, buffer: Buffer): string {
  try {
    return buffer.toString('latin1', 0, readSync(file, buffer, 0, buffer.length, 0));
  } catch {
    return '';
  }
}
