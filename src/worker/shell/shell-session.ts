import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { StopOptions } from '../../contract/backend.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { Restoration, SessionEnd } from '../../contract/session.ts';
import { createId } from '../../support/create-id.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { quote } from '../../support/quote.ts';
import { within } from '../../support/within.ts';
import { captureStream } from '../io/capture.ts';
import { createFifoPool } from '../io/fifo-pool.ts';
import { createWatch, type Watch } from '../limits/create-watch.ts';
import type { LimitReached } from '../limits/judge-end.ts';
import type { Environment } from '../machine/environment.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ProcessTree } from '../processes/process-tree.ts';
import type { ProcessExit } from '../start/start-process.ts';
import type { Started, Starter } from '../start/starter.ts';
import { createShellHost, type ShellAnswer, type ShellHost } from './shell-host.ts';
import { type SessionLook, ShellMemory } from './shell-memory.ts';
import { createOutputStock, type OutputStock, type ShellOutputs } from './shell-outputs.ts';
import { type Telling, toHostScript } from './shell-script.ts';
import type { ShellState } from './shell-state.ts';
import { createShellTree } from './shell-tree.ts';
import { toReadingWord, toShellText } from './to-shell-text.ts';
import { useOwnFolder } from './use-own-folder.ts';

/** What a session is made of. */
export interface ShellMeans {
  readonly starter: Starter;
  readonly table: ProcessTable;
  /** A folder of the session's own, which its commands can reach. */
  readonly folder: string;
  /** The directory that it begins in where no command says otherwise. */
  readonly cwd: string;
  /** How long a shell may take to report or restore its state before it is killed; 10 seconds when undefined. */
  readonly restoreMs?: number | undefined;
}

/**
 * A persistent shell: one bash for many commands, one at a time.
 * 1. its first process is started when a command comes, and below it a shell in the state in which the last one was
 *    known to be,
 * 2. each command has outputs of its own, so that what an earlier one left running cannot speak in between,
 * 3. after each command the shell tells its state: policy judges the next command by it, and a new shell could go on,
 * 4. a command that ends its shell, or has to be ended, costs the shell and nothing else of the session.
 */
export class ShellSession {
  readonly #means: ShellMeans;
  readonly #pipes: string;
  readonly #outputs: OutputStock;
  readonly #restoreMs: number;
  #host: ShellHost | null = null;
  /** Hosts whose shells still run a command that the session no longer waits for. */
  readonly #letGo = new Set<ShellHost>();
  /** Hosts without a command that the session has something in the background of. */
  readonly #beside = new Set<ShellHost>();
  /** True when the shell is not to be given another order. */
  #isSpoilt = false;
  /** True when the shell has not found the outputs of its last command. */
  #isCutOff = false;
  /** Why the next shell is a new one. */
  #newBecause: Restoration['reason'] = 'ended';
  /** Where it began: a sandbox keeps that directory writable, wherever later commands went. */
  #home: string | null = null;
  readonly #memory: ShellMemory;
  #telling: Promise<void> = Promise.resolve();
  /** Resolves when no command of its shell is being ended. */
  #ending: Promise<void> = Promise.resolve();
  /** How the shell tells its state: apart as long as it has traps, which may speak in between. */
  #how: Telling = 'at once';
  #onReached: (reached: LimitReached) => void = () => {};

  constructor(means: ShellMeans) {
    this.#means = means;
    this.#memory = new ShellMemory(means.cwd);
    this.#restoreMs = means.restoreMs ?? defaultRestoreMs;
    this.#pipes = join(means.folder, 'pipes');
    this.#outputs = createOutputStock(createFifoPool(this.#pipes));
  }

  /** What policy has to know; undefined before the first command. */
  async look(): Promise<SessionLook | undefined> {
    await this.#telling;
    return this.#memory.look();
  }

  /** What makes another shell like this one; undefined before the first command. */
  async script(): Promise<string | undefined> {
    await this.#telling;
    const { state } = this.#memory;
    return state ? this.#memory.toScript(state) : undefined;
  }

  /** Where it stands, or where it would begin. */
  get cwd(): string {
    return this.#memory.cwd;
  }

  /** Whether it has processes now. */
  get isOpen(): boolean {
    return this.#host?.lives() ?? false;
  }

  /** True when nothing of it runs but the shell that waits. */
  async isQuiet(): Promise<boolean> {
    await Promise.all([...this.#beside].map((host) => this.#closeQuiet(host)));
    return this.#host === null || isQuiet(this.#host);
  }

  /** Starts one command; a shell that is new for it gets what `base` has of the server's variables. */
  async start(spec: JobSpec, base?: Environment | undefined): Promise<Started> {
    const { host, restored } = await this.#open(spec, base);
    const { text, forget } = this.#toText(spec);
    const outputs = await this.#outputs.take();
    const since = this.#means.table.now();
    const answer = this.#giveCommand(host, text, outputs);
    let [isOver, leftNothing] = [false, false];
    void answer.then((given) => {
      forget();
      isOver = true;
      leftNothing = given.kind === 'done' && !given.done.hasJobs;
    });
    const { started } = host;
    const { table } = this.#means;
    const tree = createShellTree({
      table,
      session: started.tree,
      since,
      leftNothing: () => leftNothing,
      isOver: () => isOver,
      endShell: host.endShell,
    });
    return {
      process: {
        pid: started.process.pid,
        stdout: outputs.stdout,
        stderr: outputs.stderr,
        stdin: null,
        exited: answer.then(toExit),
        hooks: outputs.hooks,
      },
      tree: { ...tree, end: (options) => this.#end(host, tree, options) },
      enforcement: started.enforcement,
      deniedHosts: started.deniedHosts,
      watch: this.#watch(tree, started.watch),
      session: answer.then((given) => this.#toEnd(given, restored)),
    };
  }

  // The next command waits: until then nobody knows whether this one has ended by itself, and its shell is still there.
  #end(host: ShellHost, tree: ProcessTree, options: StopOptions): ReturnType<ProcessTree['end']> {
    const ended = tree.end(options);
    if (host === this.#host) this.#ending = ended.then(() => {});
    return ended;
  }

  /** Gives up on the command that runs now: it goes on with its shell, and the session gets a new one. */
  detach(): void {
    const host = this.#host;
    if (!host) return;
    this.#isSpoilt = false;
    this.#letGo.add(host);
    this.#host = null;
    this.#ending = Promise.resolve();
    this.#newBecause = 'moved';
  }

  /** Ends its processes; what is known of it stays for the next command. */
  async rest(): Promise<void> {
    await this.#telling;
    const host = this.#host;
    this.#host = null;
    this.#newBecause = 'idle';
    await host?.close();
    await this.#outputs.rest();
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    const hosts = [...this.#letGo, ...this.#beside, ...(this.#host ? [this.#host] : [])];
    await Promise.all(hosts.map((host) => host.close()));
    await this.rest();
    rmSync(this.#means.folder, { recursive: true, force: true });
  }

  async #open(
    spec: JobSpec,
    base: Environment | undefined,
  ): Promise<{ host: ShellHost; restored: Restoration | null }> {
    await this.#telling;
    await this.#ending;
    if (this.#host && this.#hasNoOutputs()) await this.#startOver();
    if (this.#host && this.#isSpoilt) await this.#endShell(this.#host);
    const living = this.isOpen ? this.#host : null;
    if (living?.hasShell()) return { host: living, restored: null };
    if (living) this.#noteGone();
    living?.again();
    const first = await this.#ready(living, spec, base);
    // Whatever kept it from taking orders has ended with it.
    return first.host.lives() ? first : this.#ready(null, spec, base);
  }

  // Whoever deleted or moved the folder has taken the way to the outputs; a sandbox would not see a new one in its place.
  #hasNoOutputs(): boolean {
    return this.#isCutOff || (!this.#outputs.isReady() && !existsSync(this.#means.folder));
  }

  async #startOver(): Promise<void> {
    await this.rest();
    this.#isCutOff = false;
    this.#newBecause = 'ended';
    useOwnFolder(this.#pipes, () => rmSync(this.#pipes, { recursive: true, force: true }));
  }

  async #ready(living: ShellHost | null, spec: JobSpec, base: Environment | undefined) {
    const host = living ?? (await this.#startHost(spec, base));
    this.#host = host;
    return { host, restored: await this.#prepare(host) };
  }

  async #startHost({ cwd, isolation, limits }: JobSpec, base: Environment | undefined): Promise<ShellHost> {
    const { folder, starter } = this.#means;
    useOwnFolder(folder, () => makeFolder(folder));
    this.#home ??= cwd;
    const started = await starter.start(
      {
        id: createId('shell'),
        command: { kind: 'shell', script: toHostScript(this.#pipes) },
        cwd: toExisting(this.#home),
        env: {},
        stdin: 'open',
        timeoutMs: null,
        isolation,
        limits,
      },
      { visibleFolders: [folder], baseEnv: base },
    );
    started.watch.begin((reached) => this.#onReached(reached));
    return createShellHost(started, this.#means.table);
  }

  /** Brings a new shell into the known state, and asks it what came of that. */
  async #prepare(host: ShellHost): Promise<Restoration | null> {
    const before = this.#memory.state;
    const reason = this.#newBecause;
    if (before && (await this.#restore(host, before))) return this.#memory.whatCameBack(before, reason);
    // A state that no shell survives is not brought back.
    if (before) host.again();
    await this.#giveOwn(host, before ? `builtin cd -- ${quote(toExisting(before.cwd))}` : ':');
    if (before) return this.#memory.onlyTheDirectory(reason);
    this.#memory.noteFresh();
    return null;
  }

  async #restore(host: ShellHost, state: ShellState): Promise<boolean> {
    const path = this.#writeScript(join(this.#pipes, 'restore'), this.#memory.toScript(state));
    const move = `builtin cd -- ${quote(toExisting(state.cwd))}`;
    const answer = this.#giveOwn(host, `${move}; builtin eval -- ${toReadingWord(path)}`);
    // What a session holds may make even our own orders endless.
    if (!(await within(answer, this.#restoreMs))) await host.endShell();
    const { kind } = await answer;
    rmSync(path, { force: true });
    return kind === 'done';
  }

  /** An order of ours, whose output nobody reads. */
  async #giveOwn(host: ShellHost, text: string): Promise<ShellAnswer> {
    const outputs = await this.#outputs.take();
    // A trap may fill them, and would wait for a reader.
    const captures = [outputs.stdout, outputs.stderr].map((end) =>
      captureStream(end, () => true, 'output', outputs.hooks),
    );
    const { answer, stateRead } = await this.#give(host, text, outputs);
    await stateRead;
    const atEnd = captures.map((capture) => capture.drain()).every(Boolean);
    for (const capture of captures) capture.close();
    outputs.hooks.onDrained(atEnd);
    return answer;
  }

  async #giveCommand(host: ShellHost, text: string, outputs: ShellOutputs): Promise<ShellAnswer> {
    const { answer, stateRead } = await this.#give(host, text, outputs);
    this.#telling = stateRead;
    return answer;
  }

  // Only `#giveCommand` may assign `#telling`: `#learn` can ask the shell again while `#telling` is pending, and an
  // order that awaited `#telling` would then wait for itself.
  async #give(
    host: ShellHost,
    text: string,
    outputs: ShellOutputs,
  ): Promise<{ readonly answer: ShellAnswer; readonly stateRead: Promise<void> }> {
    const answer = await host.give({ ...outputs.names, text }, this.#how);
    outputs.settle();
    let stateRead = Promise.resolve();
    if (this.#letGo.delete(host)) void this.#setAside(host);
    else if (answer.kind === 'gone') this.#noteGone();
    else if (answer.done.status === 'lost') this.#isCutOff = true;
    else stateRead = this.#hear(host, answer.done.cwd);
    return { answer, stateRead };
  }

  // What earlier commands started there belongs to the session until that is closed.
  async #setAside(host: ShellHost): Promise<void> {
    this.#beside.add(host);
    await this.#closeQuiet(host);
  }

  async #closeQuiet(host: ShellHost): Promise<void> {
    if (!(await isQuiet(host))) return;
    this.#beside.delete(host);
    await host.close();
  }

  // A trap that does not end would keep us from ever knowing; a shell of which nothing is known is not used again.
  async #hear(host: ShellHost, cwd: string | undefined): Promise<void> {
    const learnt = this.#learn(host, cwd).catch(() => {
      this.#isSpoilt = true;
    });
    if (!(await within(learnt, this.#restoreMs))) await host.endShell();
    await learnt;
  }

  async #learn(host: ShellHost, cwd = ''): Promise<void> {
    const printed = await host.state();
    if (!printed) return this.#noteGone();
    const wasAtOnce = this.#how === 'at once';
    this.#how = printed.hasTraps ? 'apart' : 'at once';
    if (wasAtOnce && printed.hasTraps) return this.#askAgain(host);
    this.#isSpoilt = !this.#memory.learn(cwd, printed);
  }

  // The command may have deleted the FIFOs that `#outputs` kept: `isReady` drops them, so that new ones are made.
  async #askAgain(host: ShellHost): Promise<void> {
    this.#outputs.isReady();
    await this.#giveOwn(host, ':');
  }

  async #endShell(host: ShellHost): Promise<void> {
    await host.endShell();
    this.#noteGone();
  }

  #noteGone(): void {
    this.#isSpoilt = false;
    this.#newBecause = 'ended';
  }

  #toText(spec: JobSpec): { readonly text: string; forget(): void } {
    let script: string | null = null;
    const writeScript = (long: string) => {
      script = this.#writeScript(join(this.#pipes, spec.id), long);
      return script;
    };
    const text = toShellText(spec, { standsIn: this.#memory.standsIn(), writeScript });
    return { text, forget: () => script !== null && rmSync(script, { force: true }) };
  }

  #writeScript(path: string, script: string): string {
    makeFolder(dirname(path));
    writeFileSync(path, script, { mode: 0o600 });
    return path;
  }

  // The session's limits hold for all of it; what comes to one ends the command that runs.
  #watch(tree: ProcessTree, whole: Watch): Watch {
    const own = createWatch({ limits: {}, tree, group: null, endedCpuMs: () => null, onRelease() {} });
    return {
      ...own,
      begin: (onReached) => {
        this.#onReached = onReached;
        own.begin(onReached);
      },
      judge: whole.judge,
    };
  }

  async #toEnd(answer: ShellAnswer, restored: Restoration | null): Promise<SessionEnd> {
    const isGone = answer.kind === 'gone';
    const told = isGone ? this.cwd : answer.done.cwd;
    const ran = isGone || answer.done.status !== 'lost';
    if (told === undefined) await this.#telling;
    return { cwd: told ?? this.cwd, shellEnded: isGone, ran, restored };
  }
}

// Far above what a machine under load needs.
const defaultRestoreMs = 10_000;

// Nothing runs but the first process and the shell that waits.
async function isQuiet({ started }: ShellHost): Promise<boolean> {
  return (await started.tree.scan()).commandProcesses.length <= 2;
}

function toExit(answer: ShellAnswer): ProcessExit {
  if (answer.kind === 'gone') return answer.exit;
  const { status } = answer.done;
  return { code: status === 'lost' ? 126 : status, signal: null };
}

// A directory may have been deleted under the shell: the nearest one above it is left.
function toExisting(path: string): string {
  return isFolder(path) || dirname(path) === path ? path : toExisting(dirname(path));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
