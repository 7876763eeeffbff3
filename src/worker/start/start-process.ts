import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Command } from '../../contract/command.ts';
import { NacreError } from '../../contract/failure.ts';
import { makeFolder } from '../../support/make-folder.ts';
import type { OutputHooks } from '../io/capture.ts';
import { type Fifo, openForReading, openForWriting } from '../io/fifo-pool.ts';
import { withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import type { Terminal } from '../terminal/open-terminal.ts';
import { canEnter, cwdGone, notExecutable, programMissing, startUnavailable } from './start-failures.ts';

/** How `startProcess` starts a command. */
export interface ProcessPlan {
  readonly command: Command;
  readonly cwd: string;
  readonly env: Environment;
  readonly bashPath: string;
  /** Names of fresh FIFOs: `stdout`, `stderr` and, if it is open, `stdin`. */
  readonly fifos: readonly string[];
  /** Where `openScript` puts a script that is longer than `maxArgumentBytes`. */
  readonly scriptPath: string;
  /** Bash code that applies the limits (`ulimit`) before the command runs; empty if there are none. */
  readonly prelude?: string | undefined;
}

/** A running process, with our ends of its FIFOs as descriptors. */
export interface StartedProcess {
  readonly pid: number;
  readonly exited: Promise<ProcessExit>;
  readonly stdout: number;
  readonly stderr: number;
  readonly stdin: number | null;
  /** The terminal it runs at, if any: its outputs are the master side, and `stdin` only receives `launchMessage`. */
  readonly terminal?: Terminal | undefined;
  /** Set if a persistent shell reuses its output FIFOs for other commands. */
  readonly hooks?: OutputHooks | undefined;
  /** The text that makes a waiting shell run the command; written to `stdin` before the caller's input. */
  readonly launchMessage?: string | undefined;
}

/** The longest script that is passed as an argument; Linux limits one argument to 128 KiB (MAX_ARG_STRLEN). */
export const maxArgumentBytes = 100_000;
/** The flags with which `bash` runs a script. */
export const bashFlags = ['--noprofile', '--norc', '-c'];
/** The script that executes the script on descriptor 3. */
export const readScript = 'eval "$(</dev/fd/3)" 3<&-';

/** Spawns a command in its own session and process group, as a child of this process. */
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

function spawnChild(requested: ProcessPlan, theirs: number[]): ChildProcess {
  const plan = withPrelude(requested);
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

/** Puts the prelude in front of the command, on the script's first line, so that LINENO is not shifted. */
export function withPrelude<Plan extends Pick<ProcessPlan, 'command' | 'bashPath' | 'prelude'>>(
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

/** Writes a script to a file, opens it for reading and unlinks it. */
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
      'The command, its directory or its variables contain a NUL byte.',
      { hint: 'Remove it, and pass binary data through a file.' },
    );
  }
  // The same codes from another syscall are about our own pipes and files.
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
