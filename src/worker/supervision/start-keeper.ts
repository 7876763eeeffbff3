import { type StdioOptions, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Writable } from 'node:stream';
import type { Guard } from '../guard/create-guard.ts';
import { type Fifo, openForReading, openForWriting, unlinkIfPresent } from '../io/fifo-pool.ts';
import { type Descriptors, withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';
import { adoptListener, bridgeScript } from '../network/bridge.ts';
import type { NetworkProxy } from '../network/network-proxy.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import type { OpenTerminal } from '../terminal/open-terminal.ts';
import type { OwnProcesses } from './find-family.ts';
import { followKeeper, type Keeper, keeperLimits } from './follow-keeper.ts';
import { type ForkServer, heldFd, NotForkedError } from './fork-server.ts';
import { type ForkFile, type ForkNamespace, lifelineFd } from './fork-server-script.ts';
import { type KeeperFifos, openEnds, toFifos } from './keeper-fifos.ts';
import { launcherScript, toKeeperScript } from './keeper-script.ts';
import { killHolders } from './kill-holders.ts';

/** How `startKeeper` starts a keeper. */
export interface KeeperPlan extends OwnProcesses {
  /** The command line of the supervisor, from `Supervisor.toCommand`. */
  readonly supervisor: readonly [string, ...string[]];
  readonly bashPath: string;
  readonly cwd: string;
  readonly env: Environment;
  /** Names of four fresh FIFOs: `stdout`, `stderr`, `status`, `stdin`. */
  readonly fifos: readonly string[];
  /** The reading end of the `Lifeline`. */
  readonly lifeline: number;
  /** A file with a script that is too long for a launch message; the command's shell gets it as descriptor 6. */
  readonly scriptFile?: number | undefined;
  /** The proxy for the command's network requests, if its network is filtered. */
  readonly proxy?: NetworkProxy | undefined;
  /** The terminal that the command gets in place of pipes. */
  readonly terminal?: OpenTerminal | undefined;
  /** A seccomp filter that `supervisor` reads from `filterFd`. */
  readonly filter?: Buffer | undefined;
  /** Restricts what the keeper's shell and its descendants may execute, or which files they may use. */
  readonly guard?: Guard | undefined;
}

/** Starts a keeper under its supervisor with `spawn`. */
export async function startKeeper(plan: KeeperPlan): Promise<Keeper> {
  const pipes: Fifo[] = [];
  try {
    for (const [index, name] of plan.fifos.entries())
      pipes.push(index < 3 ? openForReading(name) : openForWriting(name));
    return await launch(plan, pipes);
  } catch (error) {
    for (const pipe of pipes) closeSync(pipe.ours);
    for (const name of plan.fifos) unlinkIfPresent(name);
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
  const stdio = [...pipesOrTerminal, status.theirs, plan.lifeline, ...toExtraDescriptors(plan, stdin)];
  const passed = stdio.flatMap((one, fd) => (one === 'ignore' ? [] : [fd]));
  const { argv, env } = toProgram(plan, passed);
  const [program = '', ...args] = argv;
  const options = { cwd: plan.cwd, env, detached: true, stdio: withFilter(withoutInherited(stdio), plan) };
  const child = spawn(program, args, options);
  const toFilter = [...child.stdio][filterFd];
  // The supervisor may have failed before it has read the filter.
  if (plan.filter && toFilter instanceof Writable) toFilter.on('error', () => {}).end(plan.filter);
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
  if (proxy) adoptListener(child, proxy);
  const ends = { stdout: stdout.ours, stderr: stderr.ours, status: status.ours, stdin: stdin.ours };
  return followKeeper({ pid: child.pid, exited }, ends, {
    proxy,
    terminal,
    hasSupervisor: plan.hasSupervisor,
    ownProcesses: plan.ownProcesses,
  });
}

/** The descriptor from which bubblewrap reads `KeeperPlan.filter`; those below it may be in use. */
export const filterFd = 8;

function withFilter(stdio: Descriptors, { filter }: KeeperPlan): StdioOptions {
  if (!filter) return stdio;
  const padded = Array.from(
    { length: Math.max(stdio.length, filterFd + 1) },
    (_, fd) => stdio[fd] ?? 'ignore',
  );
  return padded.map((one, fd) => (fd === filterFd ? 'pipe' : one));
}

/** A `KeeperPlan` with four FIFOs and nothing else, whose supervisor a fork server can start. */
export interface PlainKeeperPlan
  extends Omit<KeeperPlan, 'cwd' | 'lifeline' | 'scriptFile' | 'proxy' | 'terminal'> {
  readonly namespace?: undefined;
}

/** A keeper in namespaces that the fork server creates itself. */
export interface NamespaceKeeperPlan extends Pick<KeeperPlan, 'bashPath' | 'env' | 'fifos'> {
  readonly namespace: ForkNamespace;
}

// The keeper in a `ForkNamespace` is its init process.
const onlyInit: OwnProcesses = { hasSupervisor: false, ownProcesses: 1 };

/** Starts a keeper through a `ForkServer`. */
export async function startWithForkServer(
  forkServer: Pick<ForkServer, 'start'>,
  plan: PlainKeeperPlan | NamespaceKeeperPlan,
  limits = keeperLimits,
): Promise<Keeper> {
  const fifos = toFifos(plan.fifos);
  const { ends, settle } = openEnds(fifos);
  try {
    const { hasSupervisor, ownProcesses } = plan.namespace ? onlyInit : plan;
    const program = plan.namespace ? toShell(plan) : toProgram(plan, [0, 1, 2, 3, 4]);
    const files = toForkFiles(fifos, {
      isHeld: hasSupervisor,
      filter: plan.namespace ? undefined : plan.filter,
    });
    const launched = await forkServer.start({ ...program, cwd: '/', files, namespace: plan.namespace });
    const parts = { proxy: undefined, terminal: undefined, hasSupervisor, ownProcesses };
    return followKeeper(launched, ends, parts, limits);
  } catch (error) {
    // If the fork server does not answer, a process that it has started can only be found by its status pipe.
    if (!(error instanceof NotForkedError)) await killHolders(ends.status);
    for (const fd of Object.values(ends)) closeSync(fd);
    throw error;
  } finally {
    settle();
  }
}

function toForkFiles(
  { stdin, stdout, stderr, status }: KeeperFifos,
  { isHeld, filter }: { readonly isHeld: boolean; readonly filter: Buffer | undefined },
): readonly ForkFile[] {
  return [
    { fd: 0, open: 'read', path: stdin },
    { fd: 1, open: 'write', path: stdout },
    { fd: 2, open: 'write', path: stderr },
    { fd: 3, open: 'write', path: status },
    { fd: 4, open: 'copy', path: String(lifelineFd) },
    ...(isHeld ? [{ fd: heldFd, open: 'write', path: status } as const] : []),
    ...(filter ? [{ fd: filterFd, open: 'bytes', path: filter.toString('hex') } as const] : []),
  ];
}

function toShell({ bashPath, env }: NamespaceKeeperPlan) {
  return { argv: [bashPath, '--noprofile', '--norc', '-c', launcherScript, 'bash'], env };
}

/** The `argv` of a supervisor with its keeper, and its environment. */
export function toProgram(
  { supervisor, bashPath, env, guard, proxy, terminal }: Omit<KeeperPlan, 'cwd' | 'fifos' | 'lifeline'>,
  passed: readonly number[],
): { readonly argv: readonly string[]; readonly env: Environment } {
  const keeperScript = toKeeperScript(proxy && bridgeScript, terminal !== undefined);
  const script = [bashPath, '--noprofile', '--norc', '-c', keeperScript];
  const program = guard?.wrap(script, env, passed) ?? { argv: script, env };
  return { ...program, argv: [...supervisor, ...(terminal ? leadSession : []), ...program.argv] };
}

// With `setsid` the keeper leads a new session at the command's terminal; the supervisor is not part of it.
const leadSession = ['setsid', '--ctty'];

// Descriptor 5 is the IPC channel on which `bridgeScript` sends its listening socket, 6 the script, 7 the launch message.
function toExtraDescriptors({ proxy, scriptFile, terminal }: KeeperPlan, launch: Fifo): Descriptors {
  if (terminal) return [proxy ? 'ipc' : 'ignore', scriptFile ?? 'ignore', launch.theirs];
  if (scriptFile !== undefined) return [proxy ? 'ipc' : 'ignore', scriptFile];
  return proxy ? ['ipc'] : [];
}
