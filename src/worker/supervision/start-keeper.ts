import { spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { ExecGuard } from '../exec/exec-guard.ts';
import {
  type Fifo,
  openForReading,
  openForWriting,
  openNamedForWriting,
  openReader,
  removeName,
} from '../io/fifo.ts';
import { type Descriptors, withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';
import { bridgeScript, takeOver } from '../network/bridge.ts';
import type { NetworkProxy } from '../network/network-proxy.ts';
import type { ProcessExit } from '../start/start-process.ts';
import type { OpenTerminal } from '../terminal/open-terminal.ts';
import { followKeeper, type Keeper } from './follow-keeper.ts';
import { toKeeperScript } from './keeper.ts';
import type { Nursery, NurseryFifos } from './nursery.ts';

/** What a keeper is started from. */
export interface KeeperPlan {
  /** The supervisor and its arguments, up to the program that it is to run. */
  readonly supervisor: readonly [string, ...string[]];
  readonly bashPath: string;
  readonly cwd: string;
  readonly env: Environment;
  /** Names of four fresh FIFOs. */
  readonly fifos: readonly string[];
  /** A descriptor that is at its end when we are. */
  readonly life: number;
  /** A file with a script that is too long for an order; the command's shell gets it as descriptor 6. */
  readonly scriptFile?: number | undefined;
  /** What answers the command's requests to the network, where that is filtered. */
  readonly proxy?: NetworkProxy | undefined;
  /** The terminal that the command gets in place of pipes. */
  readonly terminal?: OpenTerminal | undefined;
  /** Stands in front of the keeper's shell and becomes it, with less that it may execute. */
  readonly guard?: ExecGuard | undefined;
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
    removeNames(plan.fifos);
    throw error;
  } finally {
    for (const pipe of pipes) closeSync(pipe.theirs);
  }
}

async function launch(plan: KeeperPlan, pipes: readonly Fifo[]): Promise<Keeper> {
  const [stdout, stderr, status, stdin] = pipes;
  if (!stdout || !stderr || !status || !stdin) throw new Error('A keeper needs four pipes.');
  const { terminal, proxy } = plan;
  const pipesOrTerminal = terminal
    ? [terminal.slave, terminal.slave, terminal.slave]
    : [stdin.theirs, stdout.theirs, stderr.theirs];
  const stdio = [...pipesOrTerminal, status.theirs, plan.life, ...toExtra(plan, stdin)];
  const passed = stdio.flatMap((one, fd) => (one === 'ignore' ? [] : [fd]));
  const { argv, env } = toProgram(plan, passed);
  const [program = '', ...args] = argv;
  const options = { cwd: plan.cwd, env, detached: true, stdio: withoutInherited(stdio) };
  const child = spawn(program, args, options);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
  if (proxy) takeOver(child, proxy);
  const ends = { stdout: stdout.ours, stderr: stderr.ours, status: status.ours, stdin: stdin.ours };
  return followKeeper({ pid: child.pid, exited }, ends, { proxy, terminal });
}

/** What a nursery can start: a keeper with its four pipes and nothing beside. */
export type PlainKeeperPlan = Omit<KeeperPlan, 'cwd' | 'life' | 'scriptFile' | 'proxy' | 'terminal'>;

/** Has a keeper started by a nursery of the same variables. */
export async function startInNursery(nursery: Nursery, plan: PlainKeeperPlan): Promise<Keeper> {
  const [stdout = '', stderr = '', status = '', stdin = ''] = plan.fifos;
  const files = { stdout, stderr, status, stdin };
  const { ends, settle } = openEnds(files);
  try {
    const pid = await nursery.start(toProgram(plan, [0, 1, 2, 3, 4]).argv, files);
    const keeper = followKeeper({ pid }, ends, { proxy: undefined, terminal: undefined });
    // Until the keeper says so it may not have opened its own ends.
    void keeper.ready.then(settle);
    return keeper;
  } catch (error) {
    settle();
    for (const fd of Object.values(ends)) closeSync(fd);
    throw error;
  }
}

function openEnds({ stdout, stderr, status, stdin }: NurseryFifos) {
  const open: number[] = [];
  const keep = (fd: number) => {
    open.push(fd);
    return fd;
  };
  try {
    const [out, err, words] = [stdout, stderr, status].map((name) => keep(openReader(name)));
    if (out === undefined || err === undefined || words === undefined) throw new Error('A pipe is missing.');
    const { ours, holder } = openNamedForWriting(stdin);
    return {
      ends: { stdout: out, stderr: err, status: words, stdin: ours },
      settle() {
        closeSync(holder);
        removeNames([stdout, stderr, status, stdin]);
      },
    };
  } catch (error) {
    for (const fd of open) closeSync(fd);
    removeNames([stdout, stderr, status, stdin]);
    throw error;
  }
}

/** What the supervisor is told to run, and with which variables. */
export function toProgram(
  { supervisor, bashPath, env, guard, proxy, terminal }: Omit<KeeperPlan, 'cwd' | 'fifos' | 'life'>,
  passed: readonly number[],
): { readonly argv: readonly string[]; readonly env: Environment } {
  const keeperScript = toKeeperScript(proxy && bridgeScript, terminal !== undefined);
  const script = [bashPath, '--noprofile', '--norc', '-c', keeperScript];
  const program = guard?.toStart(script, env, passed) ?? { argv: script, env };
  return { ...program, argv: [...supervisor, ...(terminal ? leadSession : []), ...program.argv] };
}

function removeNames(names: readonly string[]): void {
  for (const name of names) removeName(name);
}

// The keeper leads a session of its own whose terminal is the command's; its supervisor stays out of it.
const leadSession = ['setsid', '--ctty'];

// Descriptor 5 is free at first: a filtered network is handed out through it.
function toExtra({ proxy, scriptFile, terminal }: KeeperPlan, order: Fifo): Descriptors {
  if (terminal) return [proxy ? 'ipc' : 'ignore', scriptFile ?? 'ignore', order.theirs];
  if (scriptFile !== undefined) return [proxy ? 'ipc' : 'ignore', scriptFile];
  return proxy ? ['ipc'] : [];
}
