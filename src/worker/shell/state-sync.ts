import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Restoration } from '../../contract/session.ts';
import { quote } from '../../support/quote.ts';
import { settlesWithin } from '../../support/timing.ts';
import { Capture } from '../io/capture.ts';
import type { ReportedState } from './reported-state.ts';
import type { SessionHosts } from './session-hosts.ts';
import type { SessionPlace } from './session-place.ts';
import type { ShellHost, ShellReply } from './shell-host.ts';
import type { OutputPool, ShellOutputs } from './shell-outputs.ts';
import type { StateMode } from './shell-script.ts';
import type { ShellState } from './shell-state.ts';
import { toFileExpansion } from './to-shell-text.ts';
import { writeScript } from './write-script.ts';

/** The parts of a session that `StateSync` uses. */
export interface StateSyncDeps {
  readonly outputs: OutputPool;
  readonly reported: ReportedState;
  readonly hosts: SessionHosts;
  readonly place: Pick<SessionPlace, 'toExisting'>;
  readonly folder: string;
  readonly restoreMs: number;
}

/** A reply; `stateRead` resolves when the state that follows it has been read. */
export interface RunResult {
  readonly reply: ShellReply;
  readonly stateRead: Promise<void>;
}

/** Exchanges state with the shells of a session: reads it after each request, and restores it in a new shell. */
export class StateSync {
  readonly #deps: StateSyncDeps;
  /** Reported as `reason` when the next shell is a new one. */
  restartReason: Restoration['reason'] = 'ended';
  /** True when the shell must not get another request: its state is unknown, or a command tampered with `toLoop`. */
  mustReplaceShell = false;
  /** True when the last request ended with status `lost`: the shell did not find its FIFOs. */
  outputsLost = false;
  /** `apart` while the shell has traps, whose output would get into a state printed in `grouped` mode. */
  #mode: StateMode = 'grouped';

  constructor(deps: StateSyncDeps) {
    this.#deps = deps;
  }

  /** Sends a request and, once it has been replied to, starts to read the state of the shell. */
  async run(host: ShellHost, text: string, outputs: ShellOutputs): Promise<RunResult> {
    const reply = await host.run({ ...outputs.names, text }, this.#mode);
    outputs.closeWriters();
    let stateRead = Promise.resolve();
    if (this.#deps.hosts.release(host)) return { reply, stateRead };
    if (reply.kind === 'exited') this.noteShellExit();
    else if (reply.done.status === 'lost') this.outputsLost = true;
    else stateRead = this.#readState(host, reply.done.cwd);
    return { reply, stateRead };
  }

  /** Restores the reported state in a new shell, or reads the state of the first one. */
  async prepare(host: ShellHost): Promise<Restoration | null> {
    const { reported } = this.#deps;
    const before = reported.state;
    const reason = this.restartReason;
    if (before && (await this.#restore(host, before))) return reported.compareWith(before, reason);
    // `#restore` killed a shell that did not survive its old state; the next one gets the directory only.
    if (before) host.restartShell();
    await this.#runInternal(host, before ? this.#toCd(before.cwd) : ':');
    if (before) return reported.directoryOnly(reason);
    reported.markFresh();
    return null;
  }

  noteShellExit(): void {
    this.mustReplaceShell = false;
    this.restartReason = 'ended';
  }

  async #restore(host: ShellHost, state: ShellState): Promise<boolean> {
    const { folder, reported, restoreMs } = this.#deps;
    const path = writeScript(join(folder, 'restore'), reported.toScript(state));
    const reply = this.#runInternal(
      host,
      `${this.#toCd(state.cwd)}; builtin eval -- ${toFileExpansion(path)}`,
    );
    // A command substitution in a restored `PS4` may never return.
    if (!(await settlesWithin(reply, restoreMs))) await host.killShell();
    const { kind } = await reply;
    rmSync(path, { force: true });
    return kind === 'done';
  }

  /** Runs an internal request and discards its output; resolves when the state after it has been read. */
  async #runInternal(host: ShellHost, text: string): Promise<ShellReply> {
    const outputs = await this.#deps.outputs.acquire();
    // A DEBUG trap may print more than a pipe buffers, so both outputs are read.
    const captures = [outputs.stdout, outputs.stderr].map(
      (end) => new Capture(end, () => true, 'output', outputs.hooks),
    );
    const { reply, stateRead } = await this.run(host, text, outputs);
    await stateRead;
    const atEnd = captures.map((capture) => capture.drain()).every(Boolean);
    for (const capture of captures) capture.close();
    outputs.hooks.onDrained(atEnd);
    return reply;
  }

  // If a trap never returns, the state never arrives: after `restoreMs` the shell is killed.
  async #readState(host: ShellHost, cwd: string | undefined): Promise<void> {
    const read = this.#update(host, cwd).catch(() => {
      this.mustReplaceShell = true;
    });
    if (!(await settlesWithin(read, this.#deps.restoreMs))) await host.killShell();
    await read;
  }

  async #update(host: ShellHost, cwd = ''): Promise<void> {
    const printed = await host.state();
    if (!printed) return this.noteShellExit();
    const wasGrouped = this.#mode === 'grouped';
    this.#mode = printed.hasTraps ? 'apart' : 'grouped';
    if (wasGrouped && printed.hasTraps) return this.#askAgain(host);
    this.mustReplaceShell = !this.#deps.reported.update(cwd, printed);
  }

  // Reads the state again in `apart` mode. The session waits for this call, so the call must not wait for the session.
  // `checkKept` drops FIFOs whose names the command has deleted.
  async #askAgain(host: ShellHost): Promise<void> {
    this.#deps.outputs.checkKept();
    await this.#runInternal(host, ':');
  }

  #toCd(directory: string): string {
    return `builtin cd -- ${quote(this.#deps.place.toExisting(directory))}`;
  }
}
