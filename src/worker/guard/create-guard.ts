import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Environment } from '../machine/environment.ts';
import type { GuardOptions, GuardRules } from './guard-rules.ts';

/** A program as the guard starts it. */
export interface GuardedProgram {
  readonly argv: readonly string[];
  readonly env: Environment;
}

/** Starts programs through dist/exec-guard.js, which restricts itself and then executes them. */
export interface Guard {
  /** The arguments and variables that start `program` with these descriptors open; `readyFd` is one of the guard's own. */
  wrap(
    program: readonly string[],
    env: Environment,
    fds: readonly number[],
    readyFd?: number,
  ): GuardedProgram;
}

/** Creates a guard that enforces `rules`; `path` is that of its program. */
export function createGuard(path: string, rules: GuardRules): Guard {
  return {
    wrap(program, env, fds, readyFd) {
      const { forNode, rest } = splitNodeVariables(env);
      const options: GuardOptions = { ...rules, fds, env: forNode, readyFd };
      return { argv: [process.execPath, path, JSON.stringify(options), ...program], env: rest };
    },
  };
}

/** Runs a bash script under rules, which must print `denied`; returns the version of Landlock, or why the guard does not work. */
export async function probeGuard(
  path: string,
  rules: GuardRules,
  { bashPath, script, words }: { bashPath: string; script: string; words: readonly string[] },
): Promise<{ readonly version: number } | { readonly reason: string }> {
  if (!existsSync(path)) return { reason: `its program ${path} is missing` };
  const program = [bashPath, '--noprofile', '--norc', '-c', script, ...words];
  const { argv } = createGuard(path, rules).wrap(program, {}, [0, 1, 2], probeFd);
  const [node = '', ...args] = argv;
  const child = spawn(node, args, { env: {}, timeout: probeMs, stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
  const [stdout, stderr, ready] = await Promise.all(child.stdio.slice(1).map(readAll));
  const [, version] = /^ready (\d+)\0$/.exec(ready ?? '') ?? [];
  if (version !== undefined && stdout === 'denied\n') return { version: Number(version) };
  return { reason: stderr?.trim().split('\n')[0] || 'the kernel did not enforce the rules of a test' };
}

const probeFd = 3;
const probeMs = 10_000;

// A program that cannot be spawned ends its pipes, too.
async function readAll(stream: unknown): Promise<string> {
  return stream instanceof Readable ? text(stream).catch(() => '') : '';
}

/** The files that the guard itself reads: Node, its program with its package.json, and the package koffi. */
export function guardFiles(path: string): readonly string[] {
  const require = createRequire(path);
  const packages = ['koffi', `@koromix/koffi-${process.platform}-${process.arch}`].flatMap((name) =>
    (require.resolve.paths(name) ?? [])
      .map((folder) => join(folder, name))
      .filter((found) => existsSync(found))
      .slice(0, 1),
  );
  const manifest = join(dirname(dirname(path)), 'package.json');
  return [process.execPath, path, manifest, ...packages].filter((file) => existsSync(file));
}

// NODE_* variables would change the guard itself; it restores them for the program that it executes.
function splitNodeVariables(env: Environment): { readonly forNode: Environment; readonly rest: Environment } {
  const pairs = Object.entries(env);
  const isForNode = ([name]: readonly [string, string]) => name.startsWith('NODE_');
  return {
    forNode: Object.fromEntries(pairs.filter(isForNode)),
    rest: Object.fromEntries(pairs.filter((pair) => !isForNode(pair))),
  };
}
