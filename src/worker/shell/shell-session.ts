import { closeSync, existsSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SessionFacts } from '../../contract/facts.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { Restoration, SessionEnd } from '../../contract/session.ts';
import { createId } from '../../support/create-id.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type NamedFifo, openNamed } from '../fifo.ts';
import { createFifoPool, type FifoPool } from '../fifo-pool.ts';
import { createWatch, type Watch } from '../limits/create-watch.ts';
import type { LimitReached } from '../limits/judge-end.ts';
import type { ProcessTable } from '../process-table.ts';
import type { ProcessTree } from '../process-tree.ts';
import type { ProcessExit } from '../start-process.ts';
import type { Started, Starter } from '../starter.ts';
import { quote } from '../supervision/order.ts';
import { createShellHost, type ShellAnswer, type ShellHost } from './shell-host.ts';
import { toHostScript } from './shell-script.ts';
import {
  type ShellState,
  toRestoration,
  toRestoreScript,
  toSessionFacts,
  toShellState,
} from './shell-state.ts';
import { createShellTree } from './shell-tree.ts';

/** What a session is made of. */
export interface ShellMeans {
  readonly starter: Starter;
  readonly table: ProcessTable;
  /** A folder of the session's own, which its commands can reach. */
  readonly folder: string;
  /** The directory that it begins in. */
  readonly cwd: string;
}

interface Outputs {
  readonly names: readonly [stdout: string, stderr: string];
  readonly stdout: NamedFifo;
  readonly stderr: NamedFifo;
}

// Longer texts go by file: the shell reads an order byte by byte.
const maxTextBytes = 8_192;

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
  readonly #fifos: FifoPool;
  #host: ShellHost | null = null;
  #shellLives = false;
  /** Why the next shell is a new one. */
  #newBecause: Restoration['reason'] = 'ended';
  #known: ShellState | null = null;
  #telling: Promise<void> = Promise.resolve();
  /** What the first shell was like before any command. */
  #fresh: ShellState | null = null;
  #onReached: (reached: LimitReached) => void = () => {};

  constructor(means: ShellMeans) {
    this.#means = means;
    this.#fifos = createFifoPool(join(means.folder, 'pipes'));
  }

  /** What policy has to know; undefined before the first command. */
  async facts(): Promise<SessionFacts | undefined> {
    await this.#telling;
    return this.#known ? toSessionFacts(this.#known, this.#fresh) : undefined;
  }

  /** What makes another shell like this one; undefined before the first command. */
  async script(): Promise<string | undefined> {
    await this.#telling;
    return this.#known ? this.#toScript(this.#known) : undefined;
  }

  /** Where it stands, or where it would begin. */
  get cwd(): string {
    return this.#known?.cwd ?? this.#means.cwd;
  }

  /** Whether it has processes now. */
  get isOpen(): boolean {
    return this.#host?.lives() ?? false;
  }

  /** True when nothing of it runs but the shell that waits. */
  async isQuiet(): Promise<boolean> {
    const view = await this.#host?.started.tree.look();
    return (view?.guests.length ?? 0) <= 2;
  }

  /** Starts one command. */
  async start(spec: JobSpec): Promise<Started> {
    const { host, restored } = await this.#open(spec);
    const outputs = await this.#takeOutputs();
    const since = this.#means.table.moment();
    const answer = this.#give(host, spec.id, this.#toText(spec), outputs);
    let leftNothing = false;
    void answer.then((given) => {
      leftNothing = given.kind === 'done' && !given.done.hasJobs;
    });
    const { started } = host;
    const { table } = this.#means;
    const tree = createShellTree({ table, session: started.tree, since, leftNothing: () => leftNothing });
    const [stdout, stderr] = [outputs.stdout.ours, outputs.stderr.ours];
    return {
      process: { pid: started.process.pid, stdout, stderr, stdin: null, exited: answer.then(toExit) },
      tree,
      enforcement: started.enforcement,
      deniedHosts: started.deniedHosts,
      watch: this.#watch(tree, started.watch),
      session: answer.then((given) => this.#toEnd(given, restored)),
    };
  }

  /** Ends its processes; what is known of it stays for the next command. */
  async rest(): Promise<void> {
    await this.#telling;
    const host = this.#host;
    this.#host = null;
    this.#newBecause = 'idle';
    await host?.close();
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    await this.rest();
    await this.#fifos.close();
    rmSync(this.#means.folder, { recursive: true, force: true });
  }

  async #open(spec: JobSpec): Promise<{ host: ShellHost; restored: Restoration | null }> {
    await this.#telling;
    // Whoever deleted the folder has taken the way to the outputs; a sandbox would not see a new one in its place.
    if (this.#host && !existsSync(this.#means.folder)) await this.rest();
    const living = this.isOpen ? this.#host : null;
    if (living && this.#shellLives) return { host: living, restored: null };
    if (living) living.again();
    const host = living ?? (await this.#startHost(spec));
    this.#host = host;
    return { host, restored: await this.#prepare(host) };
  }

  async #startHost({ isolation, limits }: JobSpec): Promise<ShellHost> {
    const { folder, starter } = this.#means;
    makeFolder(folder);
    const command = { kind: 'shell', script: toHostScript(join(folder, 'pipes')) } as const;
    const spec = {
      id: createId('shell'),
      command,
      cwd: toExisting(this.cwd),
      env: {},
      stdin: 'open',
    } as const;
    const started = await starter.start({ ...spec, timeoutMs: null, isolation, limits }, { shows: [folder] });
    started.watch.begin((reached) => this.#onReached(reached));
    return createShellHost(started);
  }

  /** Brings a new shell into the known state, and asks it what came of that. */
  async #prepare(host: ShellHost): Promise<Restoration | null> {
    const before = this.#known;
    if (before && (await this.#restore(host, before))) return toRestoration(before, this.#newBecause);
    // A state that no shell survives is not brought back.
    if (before) host.again();
    await this.#giveOwn(host, before ? `builtin cd -- ${quote(toExisting(before.cwd))}` : ':');
    if (!before) this.#fresh = this.#known;
    return (
      before && {
        ...toRestoration(nothingKnown(before.cwd), this.#newBecause),
        lost: ['everything but the directory'],
      }
    );
  }

  async #restore(host: ShellHost, state: ShellState): Promise<boolean> {
    const path = this.#writeScript('restore', this.#toScript(state));
    const text = `builtin eval -- "$(<${quote(path)})"; builtin cd -- ${quote(toExisting(state.cwd))}`;
    const answer = await this.#giveOwn(host, text);
    rmSync(path, { force: true });
    return answer.kind === 'done';
  }

  #toScript(state: ShellState): string {
    return toRestoreScript(state, this.#fresh ?? nothingKnown(state.cwd));
  }

  /** An order of ours, whose output nobody reads. */
  async #giveOwn(host: ShellHost, text: string): Promise<ShellAnswer> {
    const outputs = await this.#takeOutputs();
    try {
      const answer = await this.#give(host, 'none', text, outputs);
      await this.#telling;
      return answer;
    } finally {
      closeSync(outputs.stdout.ours);
      closeSync(outputs.stderr.ours);
    }
  }

  async #give(host: ShellHost, id: string, text: string, outputs: Outputs): Promise<ShellAnswer> {
    const [stdout, stderr] = outputs.names.map((name) => basename(name)) as [string, string];
    this.#shellLives = true;
    const answer = await host.give({ stdout, stderr, text });
    for (const { holder } of [outputs.stdout, outputs.stderr]) closeSync(holder);
    for (const name of [...outputs.names, this.#scriptPath(id)]) rmSync(name, { force: true });
    if (answer.kind === 'done') this.#telling = this.#learn(host, answer.done.cwd);
    else this.#noteGone();
    return answer;
  }

  async #learn(host: ShellHost, cwd: string): Promise<void> {
    const printed = await host.state();
    if (printed) this.#known = toShellState(cwd, printed);
    else this.#noteGone();
  }

  #noteGone(): void {
    this.#shellLives = false;
    this.#newBecause = 'ended';
  }

  async #takeOutputs(): Promise<Outputs> {
    const [stdout = '', stderr = ''] = await this.#fifos.take(2);
    return { names: [stdout, stderr], stdout: openNamed(stdout), stderr: openNamed(stderr) };
  }

  // On one line with the command, so that bash counts its lines as usual.
  #toText({ id, command, cwd, env }: JobSpec): string {
    const script = command.kind === 'shell' ? command.script : `exec -- ${command.argv.map(quote).join(' ')}`;
    const exports = Object.entries(env).map(([name, value]) => `builtin export ${name}=${quote(value)}; `);
    const move = cwd === toCanonical(this.cwd) ? '' : `builtin cd -- ${quote(cwd)} && `;
    if (exports.length === 0 && move === '' && Buffer.byteLength(script) <= maxTextBytes) return script;
    const source = Buffer.byteLength(script) > maxTextBytes ? this.#writeScript(id, script) : null;
    const words = source === null ? quote(script) : `"$(<${quote(source)})"`;
    return `${exports.join('')}${move}builtin eval -- ${words}`;
  }

  #scriptPath(name: string): string {
    return join(this.#means.folder, 'pipes', `script-${name}`);
  }

  #writeScript(name: string, script: string): string {
    const path = this.#scriptPath(name);
    makeFolder(dirname(path));
    writeFileSync(path, script, { mode: 0o600 });
    return path;
  }

  // The session's limits hold for all of it; what comes to one ends the command that runs.
  #watch(tree: ProcessTree, whole: Watch): Watch {
    const own = createWatch({ limits: {}, tree, group: null, endedCpuMs: () => null, onRelease() {} });
    return {
      begin: (onReached) => {
        this.#onReached = onReached;
        own.begin(onReached);
      },
      resources: own.resources,
      judge: whole.judge,
      end: own.end,
      release: own.release,
    };
  }

  #toEnd(answer: ShellAnswer, restored: Restoration | null): SessionEnd {
    const isGone = answer.kind === 'gone';
    return { cwd: isGone ? this.cwd : answer.done.cwd, shellEnded: isGone, restored };
  }
}

function toExit(answer: ShellAnswer): ProcessExit {
  if (answer.kind === 'gone') return answer.exit;
  const { status } = answer.done;
  return { code: status === 'lost' ? 126 : status, signal: null };
}

function nothingKnown(cwd: string): ShellState {
  return {
    cwd,
    declarations: [],
    functions: new Map(),
    exportedFunctions: [],
    aliases: new Map(),
    options: [],
    shopts: [],
  };
}

function toCanonical(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

// A directory may have been deleted under the shell: the nearest one above it is left.
function toExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : toExisting(dirname(path));
}
