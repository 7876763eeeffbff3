import { Socket } from 'node:net';
import type { JobEnd } from '../../contract/job.ts';
import { randomHex } from '../../support/ids.ts';
import { createDeferred, type Deferred, settlesWithin } from '../../support/timing.ts';
import { Capture } from '../io/capture.ts';
import { writeAtomically } from '../io/command-input.ts';
import { hasOpen, type InputFile, toInputFile } from '../observe/find-blocked-reader.ts';
import { type ProcessExit, sendSignal } from '../processes/process-exit.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { Started } from '../start/starter.ts';
import type { ShellBounds } from './shell-bounds.ts';
import {
  encodeRequest,
  keyMessage,
  restartMessage,
  type ShellRequest,
  type StateMode,
  toNonce,
} from './shell-script.ts';
import { type CommandDone, type PrintedState, StatusReader } from './shell-status.ts';
import { findShell, killShellProcess, type ShellPair } from './shell-tree.ts';
import { watchForReader } from './watch-for-reader.ts';

/** How a request ended: with a reply of the shell, or with the exit of the shell. */
export type ShellReply =
  | { readonly kind: 'done'; readonly done: CommandDone }
  | { readonly kind: 'exited'; readonly exit: ProcessExit };

interface PendingRequest {
  readonly nonce: string;
  readonly reply: Deferred<ShellReply>;
  unwatch(): void;
}

/** Dependencies of a `ShellHost` besides its process. */
export interface ShellHostDeps {
  readonly table: ProcessTable;
  readonly bounds: ShellBounds;
}

/** A session's host process, with one shell at a time below it. */
export class ShellHost {
  readonly started: Started;
  readonly #deps: ShellHostDeps;
  /** Part of the messages between nacre and the host process; commands do not know it. */
  readonly #key = randomHex(16);
  readonly #stdinFd: number;
  readonly #stdinPipe: InputFile;
  readonly #stdin: Socket;
  readonly #status: Capture;
  readonly #stderr: Capture;
  #isAlive = true;
  #hasShell = true;
  #pending: PendingRequest | null = null;
  #state = createDeferred<PrintedState | null>();
  #shellExit = createDeferred<void>();

  constructor(started: Started, deps: ShellHostDeps) {
    const { process } = started;
    this.started = started;
    this.#deps = deps;
    this.#stdinFd = process.stdin ?? -1;
    this.#stdinPipe = toInputFile(this.#stdinFd);
    this.#stdin = new Socket({ fd: this.#stdinFd, readable: false, writable: true }).on('error', () => {});
    const reader = this.#createStatusReader();
    this.#status = new Capture(process.stdout, (bytes) => {
      reader.push(bytes);
      return true;
    });
    this.#stderr = new Capture(process.stderr, () => true);
    // A host that closed its stdout cannot reply any more; it exits when `read` reaches the end of its stdin.
    void this.#status.ended.then(() => this.#stdin.end());
    void process.exited.then((exit) => this.#onHostExit(exit)).catch(() => {});
    if (process.launchMessage !== undefined) this.#stdin.write(process.launchMessage);
    this.#stdin.write(keyMessage(this.#key));
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** False from the exit of the shell, even of an idle one, until `restartShell`. */
  get hasShell(): boolean {
    return this.#hasShell;
  }

  /** Sends one request to the shell, whose previous `run` must have resolved. */
  async run(request: Omit<ShellRequest, 'nonce'>, mode: StateMode): Promise<ShellReply> {
    if (!this.#hasShell) return { kind: 'exited', exit: killed };
    const nonce = toNonce(randomHex(4), mode);
    const reply = createDeferred<ShellReply>();
    this.#pending = { nonce, reply, unwatch: this.#watchForLostReply(nonce) };
    this.#state = createDeferred();
    this.#send(encodeRequest({ ...request, nonce }));
    return reply.promise;
  }

  /** The state that the shell printed after its last request; `null` if it exited instead. */
  state(): Promise<PrintedState | null> {
    return this.#state.promise;
  }

  /** Kills the shell with SIGKILL; the pending request then ends with `exited`. */
  async killShell(): Promise<void> {
    if (!this.#hasShell) return;
    const found = await this.#findProcesses();
    const exited = this.#shellExit.promise;
    killShellProcess(found);
    // Until the host has written `gone`, the dying shell could still read the next request.
    if (!(await settlesWithin(exited, this.#deps.bounds.exitReportMs))) await this.close();
  }

  /** Makes the host process start another shell after the last one exited. */
  restartShell(): void {
    this.#hasShell = this.#isAlive;
    this.#stdin.write(restartMessage(this.#key));
  }

  /** Ends the host process and everything below it with SIGTERM, then SIGKILL; returns what survived. */
  async close(): Promise<JobEnd['survivors']> {
    const { process, tree } = this.started;
    this.#stdin.end();
    const survivors = await tree.end({ signal: 'SIGTERM', graceMs: closeGraceMs });
    if (await settlesWithin(process.exited, exitMs)) return survivors;
    // A process in uninterruptible sleep survives SIGKILL: do not wait for it, and do not use it again.
    this.#isAlive = false;
    this.#onShellExit(killed);
    return survivors;
  }

  #createStatusReader(): StatusReader {
    const listener = {
      isAwaited: (nonce: string) => nonce === this.#pending?.nonce,
      onDone: (done: CommandDone) => this.#reply({ kind: 'done', done }),
      onState: (printed: PrintedState) => this.#state.resolve(printed),
      onShellExit: (code: number) => this.#onShellExit({ code, signal: null }),
      onOverflow: () => void this.killShell(),
    };
    return new StatusReader(listener, { key: this.#key, maxBytes: this.#deps.bounds.maxStateBytes });
  }

  // A shell that is blocked in `read` on descriptor 8 has skipped its reply, for example because a trap consumed the request.
  #watchForLostReply(nonce: string): () => void {
    return watchForReader({
      root: this.started.tree.pid,
      pipe: this.#stdinPipe,
      firstMs: this.#deps.bounds.firstCheckMs,
      onCheck: () => void this.#continueStopped().catch(() => {}),
      onReading: () => {
        // The reply may be in the pipe already: `drain` reads it if this process was too busy to.
        this.#status.drain();
        if (this.#pending?.nonce === nonce) void this.killShell();
      },
    });
  }

  // A stopped host does not report the exit of its shell, and a shell that was stopped between two commands does not
  // read the next request. A command that stops its own shell stays stopped, because during a command the shell does
  // not have `requestFd` open.
  async #continueStopped(): Promise<void> {
    const { host, shell } = await this.#findProcesses();
    sendSignal(host?.pid, 'SIGCONT');
    if (shell && hasOpen(shell.pid, requestFd, this.#stdinPipe)) sendSignal(shell.pid, 'SIGCONT');
  }

  #findProcesses(): Promise<ShellPair> {
    return findShell({ table: this.#deps.table, session: this.started.tree });
  }

  // `writeAtomically` needs no turn of the event loop; the socket takes over when the pipe is full.
  #send(text: string): void {
    if (this.#stdin.writableLength > 0 || !writeAtomically(this.#stdinFd, text)) this.#stdin.write(text);
  }

  #reply(reply: ShellReply): void {
    const pending = this.#pending;
    this.#pending = null;
    pending?.unwatch();
    pending?.reply.resolve(reply);
  }

  #onShellExit(exit: ProcessExit): void {
    this.#hasShell = false;
    this.#shellExit.resolve();
    this.#shellExit = createDeferred();
    this.#state.resolve(null);
    this.#reply({ kind: 'exited', exit });
  }

  async #onHostExit(exit: ProcessExit): Promise<void> {
    const { tree, watch } = this.started;
    this.#isAlive = false;
    // A host whose exit is lost may still run, at level `group`.
    if (exit.isLost) await tree.end({ signal: 'SIGKILL', graceMs: 0 });
    this.#status.drain();
    this.#onShellExit(exit);
    for (const stream of [this.#status, this.#stderr]) stream.close();
    this.#stdin.destroy();
    tree.release();
    watch.stop();
    watch.release();
  }
}

// The descriptor from which shells read requests (`toHostScript`).
const requestFd = 8;
const killed: ProcessExit = { code: null, signal: 'SIGKILL' };
// How long `close` waits for the exit of a host process that was killed.
const exitMs = 5_000;
// Background processes of a session get this long to handle SIGTERM.
const closeGraceMs = 200;
