import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from '../../contract/command.ts';
import { NacreError } from '../../contract/failure.ts';
import { makeFolder } from '../../support/make-folder.ts';
import type { OutputCare } from '../io/capture.ts';
import { type Fifo, openForReading, openForWriting } from '../io/fifo.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';
import type { Terminal } from '../terminal/open-terminal.ts';
import { canEnter, cwdGone, notExecutable, programMissing, startUnavailable } from './start-failures.ts';

/** What a process is started from. */
export interface ProcessPlan {
  readonly command: Command;
  readonly cwd: string;
  readonly env: Environment;
  readonly bashPath: string;
  /** Names of fresh FIFOs: stdout, stderr and, where stdin is open, stdin. */
  readonly fifos: readonly string[];
  /** Where a script that is too long for an argument may be put for a moment. */
  readonly scriptPath: string;
  /** A line of bash that binds a shell to its limits before it becomes the command; empty where there are none. */
  readonly prelude?: string | undefined;
}

/** How a process ended: by itself with a code, or by a signal. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A process that runs, with our ends of its pipes. */
export interface StartedProcess {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  readonly stdout: number;
  readonly stderr: number;
  readonly stdin: number | null;
  /** Where it runs at one: its outputs are our side of it, and `stdin` takes only the order. */
  readonly terminal?: Terminal | undefined;
  /** Where its outputs are to serve other commands, too. */
  readonly care?: OutputCare | undefined;
  /** What goes into stdin before anything of the caller's, and has the command run: a waiting shell's order. */
  readonly order?: string | undefined;
}

// One argument may have 128 KiB; longer scripts are handed over in a file that bash reads and closes.
/** How long a script may be that bash gets as an argument. */
export const maxArgumentBytes = 100_000;
/** How bash is told to run a script. */
export const bashFlags = ['--noprofile', '--norc', '-c'];
const readScript = 'eval "$(</dev/fd/3)" 3<&-';

/** Starts a command in a session and process group of its own. */
export async function startProcess(plan: ProcessPlan): Promise<StartedProcess> {
  const pipes: Fifo[] = [];
  const theirs: number[] = [];
  try {
    for (const [index, name] of plan.fifos.entries()) {
      const pipe = index < 2 ? openForReading(name) : openForWriting(name);
      pipes.push(pipe);
      theirs.push(pipe.theirs);
    }
    const child = spawnChild(plan, theirs);
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    if (child.pid === undefined) throw await spawnError(child);
    const [stdout, stderr, stdin] = pipes.map((pipe) => pipe.ours);
    if (stdout === undefined || stderr === undefined) throw new Error('A command needs two pipes.');
    return { pid: child.pid, exited, stdout, stderr, stdin: stdin ?? null };
  } catch (error) {
    for (const pipe of pipes) closeSync(pipe.ours);
    for (const name of plan.fifos) rmSync(name, { force: true });
    throw toFailure(error, plan);
  } finally {
    for (const fd of theirs) closeSync(fd);
  }
}

function spawnChild(asked: ProcessPlan, theirs: number[]): ChildProcess {
  const plan = toBound(asked);
  const [stdout, stderr, stdin] = theirs;
  const streams = [stdin ?? 'ignore', stdout ?? 'ignore', stderr ?? 'ignore'] as const;
  const stdio = withoutInherited([...streams]);
  const options = { cwd: plan.cwd, env: plan.env, detached: true };
  if (plan.command.kind === 'argv') {
    const [program, ...args] = plan.command.argv;
    return spawn(program, args, { ...options, stdio });
  }
  const { script } = plan.command;
  if (Buffer.byteLength(script) <= maxArgumentBytes) {
    return spawn(plan.bashPath, [...bashFlags, '--', script], { ...options, stdio });
  }
  const file = openScript(plan.scriptPath, script);
  theirs.push(file);
  return spawn(plan.bashPath, [...bashFlags, readScript], {
    ...options,
    stdio: withoutInherited([...streams, file]),
  });
}

/** The plan with its shell bound to its limits. A script's first line stays its first, so that bash counts as usual. */
export function toBound<Plan extends Pick<ProcessPlan, 'command' | 'bashPath' | 'prelude'>>(
  plan: Plan,
): Plan {
  const { command, bashPath, prelude } = plan;
  if (!prelude) return plan;
  if (command.kind === 'shell') {
    return { ...plan, command: { kind: 'shell', script: `${prelude}; ${command.script}` } };
  }
  const words = [...bashFlags, `${prelude}; exec -- "$@"`, 'bash', ...command.argv];
  return { ...plan, command: { kind: 'argv', argv: [bashPath, ...words] } };
}

/** Puts a script into a file that has no name any more. */
export function openScript(path: string, script: string): number {
  makeFolder(dirname(path));
  try {
    writeFileSync(path, script, { mode: 0o600 });
    return openSync(path, 'r');
  } finally {
    rmSync(path, { force: true });
  }
}

function spawnError(child: ChildProcess): Promise<Error> {
  return new Promise((resolve) => child.once('error', resolve));
}

function toFailure(error: unknown, plan: ProcessPlan): Error {
  const { code, syscall } = error as NodeJS.ErrnoException;
  const program = plan.command.kind === 'argv' ? plan.command.argv[0] : plan.bashPath;
  if (code === 'ERR_INVALID_ARG_VALUE') {
    return new NacreError(
      'invalid_request',
      'A NUL byte stands in the command, its directory or its variables.',
      {
        hint: 'Leave it out; pass binary data through a file.',
      },
    );
  }
  // The same codes from elsewhere are about our own pipes and files.
  const known = syscall?.startsWith('spawn') ? spawnFailure(code, program, plan.cwd) : undefined;
  return known ?? startUnavailable(program, error);
}

function spawnFailure(code: string | undefined, program: string, cwd: string): Error | undefined {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return canEnter(cwd) ? programMissing(program) : cwdGone(cwd);
    case 'EACCES':
    case 'ENOEXEC':
      return canEnter(cwd) ? notExecutable(program) : cwdGone(cwd);
    case 'E2BIG':
      return tooLong(program);
    default:
      return undefined;
  }
}

function tooLong(program: string): NacreError {
  const message = `The arguments and environment of ${program} are too long for the system.`;
  return new NacreError('invalid_request', message, { hint: 'Pass long data through stdin or a file.' });
}
