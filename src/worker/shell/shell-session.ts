import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { StopOptions } from '../../contract/backend.ts';
import type { SandboxName } from '../../contract/isolation.ts';
import type { JobEnd, JobSpec } from '../../contract/job.ts';
import type { Restoration, SessionEnd } from '../../contract/session.ts';
import { createId } from '../../support/ids.ts';
import { makeFolder } from '../../support/make-folder.ts';
import type { FinishedChanges } from '../changes/changes-store.ts';
import { type ExecEnforcement, isLooser } from '../exec/choose-exec-guard.ts';
import { useOwnFolder } from '../folders/use-own-folder.ts';
import { createFifoPool } from '../io/fifo-pool.ts';
import type { LimitReached } from '../limits/explain-exit.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ProcessTree } from '../processes/process-tree.ts';
import type { Started, Starter, StartOptions } from '../start/starter.ts';
import { ReportedState, type SessionSnapshot } from './reported-state.ts';
import { isQuiet, SessionHosts } from './session-hosts.ts';
import { SessionPlace } from './session-place.ts';
import { defaultShellBounds, type ShellBounds } from './shell-bounds.ts';
import { createCommandTree, createCommandWatch, toShellExit } from './shell-command.ts';
import { ShellHost, type ShellReply } from './shell-host.ts';
import { OutputPool, type ShellOutputs } from './shell-outputs.ts';
import { toHostScript } from './shell-script.ts';
import { StateSync } from './state-sync.ts';
import { toShellText } from './to-shell-text.ts';
import { writeScript } from './write-script.ts';

/** Dependencies of a `ShellSession`. */
export interface ShellSessionDeps {
  readonly starter: Starter;
  readonly table: ProcessTable;
  /** The session's own folder, which its commands can read. */
  readonly folder: string;
  readonly cwd: string;
  /** The setting. */
  readonly sandbox: SandboxName;
  readonly bounds?: Partial<ShellBounds> | undefined;
}

/** How a host process is started: its variables, the programs that the kernel executes for it, and its layer. */
export type ShellHostOptions = Pick<StartOptions, 'baseEnv' | 'exec' | 'layered'>;

/**
 * A persistent shell: one bash for many commands, one at a time.
 * 1. `#open` starts a host process if a command finds none and, below it, a shell with the last reported state,
 * 2. each command has its own FIFOs, so that an earlier background process cannot write into its output,
 * 3. after each command the shell reports its state (`StateSync`): policy judges the next command by it, and a new shell
 *    can be restored to it,
 * 4. if a command ends its shell, or must be killed, only the shell is lost; background processes and state survive.
 */
export class ShellSession {
  readonly #deps: ShellSessionDeps;
  readonly #bounds: ShellBounds;
  readonly #pipes: string;
  readonly #outputs: OutputPool;
  readonly #reported: ReportedState;
  readonly #otherHosts = new SessionHosts();
  readonly #place = new SessionPlace();
  readonly #sync: StateSync;
  #host: ShellHost | null = null;
  /** The enforcement with which the host was started. */
  #exec: ExecEnforcement = { gaps: [] };
  /** Resolves when the state after the last command has been read. */
  #stateRead: Promise<void> = Promise.resolve();
  /** Resolves when no command of the current host is being stopped. */
  #stopped: Promise<void> = Promise.resolve();
  #onLimit: (reached: LimitReached) => void = () => {};

  constructor(deps: ShellSessionDeps) {
    this.#deps = deps;
    this.#bounds = { ...defaultShellBounds, ...deps.bounds };
    this.#pipes = join(deps.folder, 'pipes');
    this.#outputs = new OutputPool(createFifoPool(this.#pipes));
    this.#reported = new ReportedState(deps.cwd, this.#place);
    this.#sync = new StateSync({
      outputs: this.#outputs,
      reported: this.#reported,
      hosts: this.#otherHosts,
      place: this.#place,
      folder: this.#pipes,
      restoreMs: this.#bounds.restoreMs,
    });
  }

  /** Facts for policy; `undefined` before the first command. */
  async snapshot(): Promise<SessionSnapshot | undefined> {
    await this.#stateRead;
    return this.#reported.snapshot();
  }

  /** A script that restores this session's state in another shell; `undefined` before the first command. */
  async restoreScript(): Promise<string | undefined> {
    await this.#stateRead;
    const { state } = this.#reported;
    return state ? this.#reported.toScript(state) : undefined;
  }

  /** The shell's directory, or the one in which it would start. */
  get cwd(): string {
    return this.#reported.cwd;
  }

  /** True while the session has a `ShellHost`. */
  get isOpen(): boolean {
    return this.#host?.isAlive ?? false;
  }

  /** True when no process of the session runs except its idle shell. */
  async isQuiet(): Promise<boolean> {
    await this.#otherHosts.closeQuiet();
    return this.#host === null || isQuiet(this.#host);
  }

  /**
   * Starts one command; `options` apply to a host process that is started for it. A command with a layer gets a host of its
   * own, which ends with it: a layer cannot be applied while a shell uses it.
   */
  async start(spec: JobSpec, options: ShellHostOptions): Promise<Started> {
    if (options.layered && this.#host) await this.#endHost('layer');
    const { host, restored } = await this.#open(spec, options);
    host.started.layer?.begin();
    const { text, removeScript } = this.#toText(spec);
    const outputs = await this.#outputs.acquire();
    const since = this.#deps.table.now();
    const reply = this.#run(host, text, outputs);
    void reply.then(removeScript);
    const tree = createCommandTree(host, { table: this.#deps.table, since, reply });
    const { process, enforcement, deniedHosts, deniedPrograms, protectedUse, watch } = host.started;
    const { stdout, stderr, hooks } = outputs;
    return {
      process: { pid: process.pid, stdout, stderr, stdin: null, exited: reply.then(toShellExit), hooks },
      tree: { ...tree, end: (options) => this.#stop(host, tree, options) },
      enforcement,
      deniedHosts,
      deniedPrograms,
      protectedUse,
      watch: createCommandWatch(tree, watch, (onLimit) => {
        this.#onLimit = onLimit;
      }),
      session: reply.then((ended) => this.#toSessionEnd(ended, restored)),
      layer: host.started.layer && {
        begin() {},
        finish: (isTooLarge) => this.#finishLayer(host, isTooLarge),
      },
    };
  }

  async #finishLayer(host: ShellHost, isTooLarge: boolean): Promise<FinishedChanges | undefined> {
    if (host === this.#host) await this.#endHost('layer');
    else await host.close();
    return host.started.layer?.finish(isTooLarge);
  }

  /** Detaches the running command: it keeps running in its shell, and the session will start a new one. */
  detach(): void {
    const host = this.#host;
    if (!host) return;
    this.#sync.mustReplaceShell = false;
    this.#sync.restartReason = 'moved';
    this.#otherHosts.detach(host);
    this.#host = null;
    this.#stopped = Promise.resolve();
  }

  /** Ends the session's processes; its state is kept for the next command. */
  goIdle(): Promise<void> {
    return this.#endHost('idle');
  }

  async #endHost(reason: Restoration['reason']): Promise<void> {
    await this.#stateRead;
    const host = this.#host;
    this.#host = null;
    this.#sync.restartReason = reason;
    await host?.close();
    await this.#outputs.close();
  }

  /** Ends the session and removes its folder; its state cannot be restored. Returns the processes that could not be killed. */
  async close(): Promise<JobEnd['survivors']> {
    const survivors = await Promise.all([this.#otherHosts.closeAll(), this.#host?.close() ?? []]);
    await this.goIdle();
    rmSync(this.#deps.folder, { recursive: true, force: true });
    return survivors.flat();
  }

  async #open(
    spec: JobSpec,
    options: ShellHostOptions,
  ): Promise<{ host: ShellHost; restored: Restoration | null }> {
    await this.#stateRead;
    await this.#stopped;
    if (this.#host && (this.#cannotReachOutputs() || this.#isOutdated(spec, options)))
      await this.#startOver();
    if (this.#host && this.#sync.mustReplaceShell) await this.#killShell(this.#host);
    const living = this.isOpen ? this.#host : null;
    if (living?.hasShell) return { host: living, restored: null };
    if (living) this.#sync.noteShellExit();
    living?.restartShell();
    const first = await this.#prepare(living, spec, options);
    // If the host exited during `#prepare`, a new host gets one more try.
    return first.host.isAlive ? first : this.#prepare(null, spec, options);
  }

  #isOutdated(spec: JobSpec, { exec }: ShellHostOptions): boolean {
    return this.#place.isOutdated(spec) || isLooser(this.#exec, exec);
  }

  // After `rm` or `mv` of the folder the shell cannot open FIFOs by name; a sandbox would not see a new folder either.
  #cannotReachOutputs(): boolean {
    return this.#sync.outputsLost || (!this.#outputs.checkKept() && !existsSync(this.#deps.folder));
  }

  async #startOver(): Promise<void> {
    await this.goIdle();
    this.#sync.outputsLost = false;
    this.#sync.restartReason = 'ended';
    useOwnFolder(this.#pipes, () => rmSync(this.#pipes, { recursive: true, force: true }));
  }

  async #prepare(living: ShellHost | null, spec: JobSpec, options: ShellHostOptions) {
    const host = living ?? (await this.#startHost(spec, options));
    this.#host = host;
    return { host, restored: await this.#sync.prepare(host) };
  }

  async #startHost({ cwd, isolation, limits, room }: JobSpec, options: ShellHostOptions): Promise<ShellHost> {
    const { folder, starter, table } = this.#deps;
    useOwnFolder(folder, () => makeFolder(folder));
    const directory = this.#place.choose({ cwd, isolation });
    const started = await starter.start(
      {
        id: createId('shell'),
        command: { kind: 'shell', script: toHostScript(this.#pipes) },
        cwd: this.#toStart(directory, isolation),
        env: {},
        stdin: 'open',
        timeoutMs: null,
        isolation,
        limits,
        room,
      },
      { ...options, visibleFolders: [folder] },
    );
    this.#exec = options.exec;
    this.#place.noteStart(started.enforcement);
    started.watch.start((reached) => this.#onLimit(reached));
    return new ShellHost(started, { table, bounds: this.#bounds });
  }

  // In a sandbox the directory becomes writable, so a deleted one must not be replaced with its parent.
  #toStart(directory: string, isolation: JobSpec['isolation']): string {
    const sandbox = isolation?.sandbox ?? this.#deps.sandbox;
    return sandbox === 'off' ? this.#place.toExisting(directory) : directory;
  }

  async #run(host: ShellHost, text: string, outputs: ShellOutputs): Promise<ShellReply> {
    const { reply, stateRead } = await this.#sync.run(host, text, outputs);
    this.#stateRead = stateRead;
    return reply;
  }

  // The next command waits for `#stopped`: until then it is unknown whether the shell survives.
  #stop(host: ShellHost, tree: ProcessTree, options: StopOptions): ReturnType<ProcessTree['end']> {
    const stopped = tree.end(options);
    if (host === this.#host) this.#stopped = stopped.then(() => {});
    return stopped;
  }

  async #killShell(host: ShellHost): Promise<void> {
    await host.killShell();
    this.#sync.noteShellExit();
  }

  #toText(spec: JobSpec): { readonly text: string; removeScript(): void } {
    const path = join(this.#pipes, spec.id);
    let isWritten = false;
    const text = toShellText(spec, {
      currentDirectory: this.#reported.currentDirectory(),
      writeScript: (script) => {
        isWritten = true;
        return writeScript(path, script);
      },
    });
    return { text, removeScript: () => isWritten && rmSync(path, { force: true }) };
  }

  async #toSessionEnd(reply: ShellReply, restored: Restoration | null): Promise<SessionEnd> {
    const shellEnded = reply.kind === 'exited';
    const reported = shellEnded ? this.cwd : reply.done.cwd;
    const ran = shellEnded || reply.done.status !== 'lost';
    if (reported === undefined) await this.#stateRead;
    return { cwd: reported ?? this.cwd, shellEnded, ran, restored };
  }
}
