import { spawn } from 'node:child_process';
import { closeSync, readSync, rmSync } from 'node:fs';
import { constants as os } from 'node:os';
import { createDeferred } from '../../support/deferred.ts';
import { within } from '../../support/within.ts';
import { captureStream } from '../capture.ts';
import type { Environment } from '../environment.ts';
import type { ExecGuard } from '../exec/exec-guard.ts';
import { type Fifo, openForReading, openForWriting } from '../fifo.ts';
import { type Descriptors, withoutInherited } from '../inherited-descriptors.ts';
import { bridgeScript, takeOver } from '../network/bridge.ts';
import type { NetworkProxy } from '../network/network-proxy.ts';
import type { ProcessExit } from '../start-process.ts';
import type { OpenTerminal } from '../terminal/open-terminal.ts';
import { toKeeperScript, toKeeperWord } from './keeper.ts';

/** What a keeper is started from. */
export interface KeeperPlan {
  /** The supervisor and its arguments, up to the program that it is to run. */
  readonly supervisor: readonly [string, ...string[]];
  readonly bashPath: string;
  readonly cwd: string;
  readonly env: Environment;
  /** Names of five fresh FIFOs. */
  readonly fifos: readonly string[];
  /** A file with a script that is too long for an order; the command's shell gets it as descriptor 6. */
  readonly scriptFile?: number | undefined;
  /** What answers the command's requests to the network, where that is filtered. */
  readonly proxy?: NetworkProxy | undefined;
  /** The terminal that the command gets in place of pipes. */
  readonly terminal?: OpenTerminal | undefined;
  /** Stands in front of the keeper's shell and becomes it, with less that it may execute. */
  readonly guard?: ExecGuard | undefined;
}

/** How the command's own shell ended, and how many processes its namespace had then. */
export interface KeeperEnd {
  readonly exit: ProcessExit;
  readonly processes: number | null;
}

/** A namespace with a shell in it that waits for its order. */
export interface Keeper {
  /** The supervisor's own number. */
  readonly pid: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly stdin: number;
  /** True once it waits for an order; false when it ended before. */
  readonly ready: Promise<boolean>;
  readonly ended: Promise<KeeperEnd>;
  /** CPU time of the command, once it has ended and the keeper has told; null until then. */
  endedCpuMs(): number | null;
  /** Resolves when the supervisor is gone. */
  readonly gone: Promise<void>;
  readonly proxy: NetworkProxy | undefined;
  readonly terminal: OpenTerminal | undefined;
  /** Lets it end; whatever still runs in its namespace ends with it. */
  release(): void;
  /** What stands in its stderr, for one that did not get ready. */
  lastWords(): string;
  /** Ends one that was never used. */
  discard(): Promise<void>;
}

/** Starts a keeper under its supervisor. */
export async function startKeeper(plan: KeeperPlan): Promise<Keeper> {
  const pipes: Fifo[] = [];
  try {
    for (const [index, name] of plan.fifos.entries())
      pipes.push(index < 3 ? openForReading(name) : openForWriting(name));
    return await launch(plan, pipes);
  } catch (error) {
    for (const pipe of pipes) closeSync(pipe.ours);
    for (const name of plan.fifos) rmSync(name, { force: true });
    throw error;
  } finally {
    for (const pipe of pipes) closeSync(pipe.theirs);
  }
}

async function launch(plan: KeeperPlan, pipes: readonly Fifo[]): Promise<Keeper> {
  const [stdout, stderr, status, stdin, hold] = pipes;
  if (!stdout || !stderr || !status || !stdin || !hold) throw new Error('A keeper needs five pipes.');
  const [program, ...args] = plan.supervisor;
  const { terminal } = plan;
  const keeperScript = toKeeperScript(plan.proxy && bridgeScript, terminal !== undefined);
  const script = [plan.bashPath, '--noprofile', '--norc', '-c', keeperScript];
  const pipesOrTerminal = terminal
    ? [terminal.slave, terminal.slave, terminal.slave]
    : [stdin.theirs, stdout.theirs, stderr.theirs];
  const stdio = [...pipesOrTerminal, status.theirs, hold.theirs, ...toExtra(plan, stdin)];
  const passed = stdio.flatMap((one, fd) => (one === 'ignore' ? [] : [fd]));
  const { argv, env } = plan.guard?.toStart(script, plan.env, passed) ?? { argv: script, env: plan.env };
  const leading = terminal ? leadSession : [];
  const options = { cwd: plan.cwd, env, detached: true, stdio: withoutInherited(stdio) };
  const child = spawn(program, [...args, ...leading, ...argv], options);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
  if (plan.proxy) takeOver(child, plan.proxy);
  const words = listen(status.ours, exited);
  let held = true;
  const release = () => {
    if (held) closeSync(hold.ours);
    held = false;
  };
  void exited.then(release);
  if (terminal) for (const pipe of [stdout, stderr]) closeSync(pipe.ours);
  return {
    pid: child.pid,
    stdout: terminal?.master ?? stdout.ours,
    stderr: terminal?.master ?? stderr.ours,
    stdin: stdin.ours,
    terminal,
    ...words,
    gone: exited.then(() => {}),
    proxy: plan.proxy,
    release,
    lastWords: () => readNow(terminal?.master ?? stderr.ours),
    async discard() {
      // A supervisor that dies between its two forks leaves the first one behind, waiting for it forever.
      await within(words.ready, startMs);
      child.kill('SIGKILL');
      for (const fd of [stdin.ours, ...(terminal ? [] : [stdout.ours, stderr.ours])]) closeSync(fd);
      terminal?.discard();
      await exited;
    },
  };
}

/** How long a start may take on a busy machine before it counts as failed. */
export const startMs = 3_000;

// The keeper leads a session of its own whose terminal is the command's; its supervisor stays out of it.
const leadSession = ['setsid', '--ctty'];

// Descriptor 5 is free at first: a filtered network is handed out through it.
function toExtra({ proxy, scriptFile, terminal }: KeeperPlan, order: Fifo): Descriptors {
  if (terminal) return [proxy ? 'ipc' : 'ignore', scriptFile ?? 'ignore', order.theirs];
  if (scriptFile !== undefined) return [proxy ? 'ipc' : 'ignore', scriptFile];
  return proxy ? ['ipc'] : [];
}

// What the keeper says comes first; a supervisor that ends without a word of it tells by its own exit.
function listen(fd: number, exited: Promise<ProcessExit>): Pick<Keeper, 'ready' | 'ended' | 'endedCpuMs'> {
  const ready = createDeferred<boolean>();
  const ended = createDeferred<KeeperEnd>();
  let text = '';
  let cpuMs: number | null = null;
  const capture = captureStream(fd, (bytes) => {
    const words = (text + Buffer.from(bytes).toString('latin1')).split('\0');
    text = (words.pop() ?? '').slice(-longestWord);
    for (const word of words.map(toKeeperWord)) {
      if (word?.says === 'ready') ready.resolve(true);
      if (word?.says === 'ended') {
        cpuMs = word.cpuMs;
        ended.resolve({ exit: toExit(word.status), processes: word.processes });
      }
    }
    return true;
  });
  void exited.then((exit) => {
    capture.drain();
    capture.close();
    ready.resolve(false);
    ended.resolve({ exit: exit.code === null ? exit : toExit(exit.code), processes: null });
  });
  return { ready: ready.promise, ended: ended.promise, endedCpuMs: () => cpuMs };
}

function readNow(fd: number): string {
  const buffer = Buffer.alloc(4_096);
  try {
    return buffer.toString('utf8', 0, readSync(fd, buffer, 0, buffer.length, null));
  } catch {
    return '';
  }
}

const longestWord = 160;
// Of two names for one number the first is the usual one.
const signalNames = new Map(
  Object.entries(os.signals)
    .reverse()
    .map(([name, number]) => [number, name as NodeJS.Signals] as const),
);

/** How a command ended whose shell was waited for by another: death by signal N is the exit code 128+N. */
export function toExit(code: number): ProcessExit {
  const signal = signalNames.get(code - 128);
  return signal === undefined ? { code, signal: null } : { code: null, signal };
}
