import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { isExhausted, toNacreError } from '../../contract/failure.ts';
import type { Environment } from '../machine/environment.ts';
import { findGuardPrograms, type GuardProgram } from './guard-program.ts';
import type { GuardRules } from './guard-rules.ts';

/** A program as the guard starts it. */
export interface GuardedProgram {
  readonly argv: readonly string[];
  readonly env: Environment;
}

/** Starts programs through a `GuardProgram`, which restricts itself and then executes them. */
export interface Guard {
  /** The arguments and variables that start `program` with these descriptors open; `readyFd` is one of the guard's own. */
  wrap(
    program: readonly string[],
    env: Environment,
    fds: readonly number[],
    readyFd?: number,
  ): GuardedProgram;
  /** The rules for the fork server, which restricts the shell itself (`ForkNamespace.guard`); undefined if the shell needs `wrap`. */
  readonly forkWords?: readonly string[] | undefined;
}

/** A guard that works on this machine: its program, and the version of Landlock. */
export interface WorkingGuard {
  readonly program: GuardProgram;
  readonly version: number;
}

/** Creates a guard that enforces `rules`. */
export function createGuard(program: GuardProgram, rules: GuardRules): Guard {
  const { ownVariables, toArguments } = program;
  return {
    // Rules about files grant rights on descriptors, which differ from command to command.
    forkWords: rules.files ? undefined : program.toForkWords?.(rules),
    wrap(shell, env, fds, readyFd) {
      const { own, rest } = splitVariables(env, ownVariables.prefix);
      const argv = toArguments({ ...rules, fds, env: own, readyFd }, shell);
      return { argv, env: { ...rest, ...ownVariables.set } };
    },
  };
}

interface ProbeScript {
  readonly bashPath: string;
  /** Must print `denied` under the rules. */
  readonly script: string;
  readonly words: readonly string[];
}

/**
 * Runs a bash script under rules, with each program of the guard at `path` until one works; returns that program, or why
 * none does.
 */
export async function probeGuard(
  path: string,
  rules: GuardRules,
  script: ProbeScript,
): Promise<WorkingGuard | { readonly reason: string }> {
  let reason = `its program ${path} is missing`;
  for (const program of findGuardPrograms(path)) {
    const found = await probeProgram(program, rules, script);
    if ('version' in found) return { ...found, program };
    reason = found.reason;
  }
  return { reason };
}

async function probeProgram(
  program: GuardProgram,
  rules: GuardRules,
  { bashPath, script, words }: ProbeScript,
): Promise<{ readonly version: number } | { readonly reason: string }> {
  const shell = [bashPath, '--noprofile', '--norc', '-c', script, ...words];
  const { argv, env } = createGuard(program, rules).wrap(shell, {}, [0, 1, 2], probeFd);
  const [first = '', ...args] = argv;
  const child = spawn(first, args, { env, timeout: probeMs, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const failure = await spawnFailure(child);
  // A probe that could not start says nothing about the kernel, so its result must not be cached.
  if (isExhausted(failure)) throw toNacreError(failure);
  if (failure !== undefined) return { reason: failure.message };
  const [stdout, stderr, ready] = await Promise.all(child.stdio.slice(1).map(readAll));
  const [, version] = /^ready (\d+)\0$/.exec(ready ?? '') ?? [];
  if (version !== undefined && stdout === 'denied\n') return { version: Number(version) };
  return { reason: stderr?.trim().split('\n')[0] || 'the kernel did not enforce the rules of a test' };
}

/** Resolves to the error of a process that could not be spawned; without descriptors, Node creates no streams for it. */
async function spawnFailure(child: ChildProcess): Promise<Error | undefined> {
  if (child.pid === undefined) return once(child, 'error').then(([error]) => error);
  child.on('error', () => {});
  return undefined;
}

const probeFd = 3;
const probeMs = 10_000;

async function readAll(stream: unknown): Promise<string> {
  return stream instanceof Readable ? text(stream).catch(() => '') : '';
}

// Variables that would change the guard itself; it restores them for the program that it executes.
function splitVariables(
  env: Environment,
  prefix: string,
): { readonly own: Environment; readonly rest: Environment } {
  const pairs = Object.entries(env);
  const isOwn = ([name]: readonly [string, string]) => name.startsWith(prefix);
  return {
    own: Object.fromEntries(pairs.filter(isOwn)),
    rest: Object.fromEntries(pairs.filter((pair) => !isOwn(pair))),
  };
}
