import { spawn } from 'node:child_process';
import { closeSync, rmSync } from 'node:fs';
import { createStopwatch, type Stopwatch } from '../../support/timing.ts';
import type { Guard } from '../guard/create-guard.ts';
import { type Fifo, openForReading, openForWriting } from '../io/fifo-pool.ts';
import { type Descriptors, withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import { followKeeper, type Keeper } from '../supervision/follow-keeper.ts';
import { launcherScript } from '../supervision/keeper-script.ts';
import { bashFlags } from './start-process.ts';

/** How `startGuardedShell` starts a shell. */
export interface GuardedShellPlan {
  readonly guard: Guard;
  readonly bashPath: string;
  readonly env: Environment;
  /** Names of four fresh FIFOs: `stdout`, `stderr`, `status`, `stdin`. */
  readonly fifos: readonly string[];
  /** A file with a script that is too long for a launch message; the shell gets it as descriptor 6. */
  readonly scriptFile?: number | undefined;
}

/** A shell without keeper and namespace that waits for its launch message; the guard became this shell by `execv`. */
export interface GuardedShell extends Keeper {
  readonly exited: Promise<ProcessExit>;
  /** Time since it was started, which may be long before its command. */
  readonly elapsed: Stopwatch;
}

const statusFd = 3;

/** Starts a shell behind the guard, in its own session; it is `ready` once the guard's rules apply. */
export async function startGuardedShell(plan: GuardedShellPlan): Promise<GuardedShell> {
  const pipes: Fifo[] = [];
  try {
    for (const [index, name] of plan.fifos.entries())
      pipes.push(index < 3 ? openForReading(name) : openForWriting(name));
    return await spawnShell(plan, pipes);
  } catch (error) {
    for (const pipe of pipes) closeSync(pipe.ours);
    for (const name of plan.fifos) rmSync(name, { force: true });
    throw error;
  } finally {
    for (const pipe of pipes) closeSync(pipe.theirs);
  }
}

async function spawnShell(
  { guard, bashPath, env, scriptFile }: GuardedShellPlan,
  pipes: readonly Fifo[],
): Promise<GuardedShell> {
  const [stdout, stderr, status, stdin] = pipes;
  if (!stdout || !stderr || !status || !stdin) throw new Error('A guarded shell needs four pipes.');
  const stdio: Descriptors = [
    ...[stdin.theirs, stdout.theirs, stderr.theirs, status.theirs],
    ...(scriptFile === undefined ? [] : (['ignore', 'ignore', scriptFile] as const)),
  ];
  const passed = scriptFile === undefined ? [0, 1, 2] : [0, 1, 2, 6];
  const guarded = guard.wrap([bashPath, ...bashFlags, launcherScript, 'bash'], env, passed, statusFd);
  const [program = '', ...args] = guarded.argv;
  const elapsed = createStopwatch();
  const child = spawn(program, args, {
    cwd: '/',
    env: guarded.env,
    detached: true,
    stdio: withoutInherited(stdio),
  });
  const exited = new Promise<ProcessExit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
  const ends = { stdout: stdout.ours, stderr: stderr.ours, status: status.ours, stdin: stdin.ours };
  const keeper = followKeeper({ pid: child.pid, exited }, ends, { proxy: undefined, terminal: undefined });
  return { ...keeper, exited, elapsed };
}
