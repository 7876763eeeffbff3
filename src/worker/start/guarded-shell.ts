import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { createStopwatch, type Stopwatch } from '../../support/timing.ts';
import type { Guard, GuardedProgram } from '../guard/create-guard.ts';
import { type Descriptors, withoutInherited } from '../io/inherited-descriptors.ts';
import type { Environment } from '../machine/environment.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import { followKeeper, type Keeper } from '../supervision/follow-keeper.ts';
import { type Forked, type ForkServer, NotForkedError } from '../supervision/fork-server.ts';
import type { ForkFile } from '../supervision/fork-server-script.ts';
import { openEnds, toFifos } from '../supervision/keeper-fifos.ts';
import { launcherScript } from '../supervision/keeper-script.ts';
import { killHolders } from '../supervision/kill-holders.ts';
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

/**
 * Starts a shell behind the guard, in its own session, through the fork server if possible; it is `ready` once the guard's rules
 * apply.
 */
export async function startGuardedShell(
  plan: GuardedShellPlan,
  forkServer: ForkServer,
): Promise<GuardedShell> {
  const program = toProgram(plan);
  const elapsed = createStopwatch();
  const { ends, settle } = openEnds(toFifos(plan.fifos));
  try {
    const launched = await launch(plan, program, forkServer);
    const keeper = followKeeper(launched, ends, {
      proxy: undefined,
      terminal: undefined,
      hasSupervisor: false,
      ownProcesses: 0,
    });
    return { ...keeper, exited: launched.exited, elapsed };
  } catch (error) {
    if (!(error instanceof NotForkedError)) await killHolders(ends.status);
    for (const fd of Object.values(ends)) closeSync(fd);
    throw error;
  } finally {
    settle();
  }
}

// Without the fork server, Node opens the ends of the shell.
async function launch(
  plan: GuardedShellPlan,
  program: GuardedProgram,
  forkServer: ForkServer,
): Promise<Forked> {
  try {
    return await forkServer.start({ ...program, cwd: '/', files: toForkFiles(plan) });
  } catch (error) {
    if (!(error instanceof NotForkedError)) throw error;
    return spawnShell(plan, program);
  }
}

function toForkFiles({ fifos, scriptFile }: GuardedShellPlan): readonly ForkFile[] {
  const { stdin, stdout, stderr, status } = toFifos(fifos);
  const script = { fd: 6, open: 'read', path: `/proc/${process.pid}/fd/${scriptFile}` } as const;
  return [
    { fd: 0, open: 'read', path: stdin },
    { fd: 1, open: 'write', path: stdout },
    { fd: 2, open: 'write', path: stderr },
    { fd: statusFd, open: 'write', path: status },
    ...(scriptFile === undefined ? [] : [script]),
  ];
}

async function spawnShell(plan: GuardedShellPlan, { argv, env }: GuardedProgram): Promise<Forked> {
  const { stdin, stdout, stderr, status } = toFifos(plan.fifos);
  const opened: number[] = [];
  const open = (name: string, flags: 'r' | 'w') => {
    opened.push(openSync(name, flags));
    return opened.at(-1) ?? -1;
  };
  try {
    // None of these blocks, because `openEnds` has the other ends open.
    const stdio: Descriptors = [open(stdin, 'r'), open(stdout, 'w'), open(stderr, 'w'), open(status, 'w')];
    if (plan.scriptFile !== undefined) stdio.push('ignore', 'ignore', plan.scriptFile);
    const [program = '', ...args] = argv;
    const child = spawn(program, args, { cwd: '/', env, detached: true, stdio: withoutInherited(stdio) });
    const exited = new Promise<ProcessExit>((resolve) => {
      child.once('exit', (code, signal) => resolve({ code, signal }));
    });
    if (child.pid === undefined) throw await new Promise((resolve) => child.once('error', resolve));
    return { pid: child.pid, exited };
  } finally {
    for (const fd of opened) closeSync(fd);
  }
}

function toProgram({ guard, bashPath, env, scriptFile }: GuardedShellPlan): GuardedProgram {
  const passed = scriptFile === undefined ? [0, 1, 2] : [0, 1, 2, 6];
  return guard.wrap([bashPath, ...bashFlags, launcherScript, 'bash'], env, passed, statusFd);
}
