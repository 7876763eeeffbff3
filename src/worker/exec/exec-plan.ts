import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { ExecList } from '../../contract/isolation.ts';
import { findProgram } from '../machine/inspect.ts';
import { readInterpreter } from './read-interpreter.ts';

/** The programs that Landlock lets commands execute (`toExecPlan`). */
export interface ExecPlan {
  /** Canonical paths of files, and of folders whose files may all be executed. */
  readonly allow: readonly string[];
  /** The files among them that are not listed, but needed by listed ones. */
  readonly added: readonly string[];
  /** Listed multi-call programs such as `busybox`, which act as a different program under each of their names. */
  readonly multiCall: readonly string[];
}

/** The PATH and the bash of commands, which `toExecPlan` resolves names with. */
export interface ExecPlanDeps {
  readonly path: string;
  readonly bashPath: string;
}

const systemFolders = ['/bin', '/usr/bin', '/sbin', '/usr/sbin'];
// Every program may call `system(3)`; the shell then executes only allowed programs.
const shells = ['/bin/sh'];
const multiCallName = /^(?:busybox|toybox|coreutils|rustup)$/;
const maxDepth = 5;

/**
 * Finds all files that must be executable so that the listed programs work.
 * 1. names are resolved to files in the PATH and in the system's folders,
 * 2. their helpers are added, then the interpreters and dynamic loaders of all of them.
 */
export function toExecPlan({ names, helpers: known }: ExecList, deps: ExecPlanDeps): ExecPlan {
  const listed = names.flatMap((name) => findFiles(name, deps));
  const helpers = known.names.flatMap((name) => findFiles(name, deps));
  const folders = toCanonical(known.folders);
  const start = [...listed, ...helpers, ...toCanonical([deps.bashPath, ...shells])];
  const scripts = onePathPerFile([...start, ...folders.flatMap(filesIn)]);
  const all = new Set([...start, ...scripts.flatMap((file) => findInterpreters(file, deps, 0))]);
  const own = new Set(listed);
  return {
    allow: [...all, ...folders],
    added: [...all].filter((file) => !own.has(file)),
    multiCall: listed.filter((file) => multiCallName.test(basename(file))),
  };
}

function findFiles(name: string, { path }: ExecPlanDeps): readonly string[] {
  if (name.includes('/')) return toCanonical([name]).filter(isFile);
  const found = findProgram(name, path);
  const places = systemFolders.map((folder) => join(folder, name));
  return [...new Set(toCanonical([...(found === null ? [] : [found]), ...places]).filter(isFile))];
}

function findInterpreters(file: string, deps: ExecPlanDeps, depth: number): readonly string[] {
  const [program, ...words] = readInterpreter(file);
  if (program === undefined || depth > maxDepth) return [];
  // `#!/usr/bin/env -S node --flag` runs node.
  const behindEnv = basename(program) === 'env' ? words.find((word) => !/^-|=/.test(word)) : undefined;
  const needed = [...toCanonical([program]), ...(behindEnv === undefined ? [] : findFiles(behindEnv, deps))];
  return needed.flatMap((one) => [one, ...findInterpreters(one, deps, depth + 1)]);
}

function toCanonical(paths: readonly string[]): readonly string[] {
  return paths.flatMap((path) => {
    try {
      return [realpathSync(path)];
    } catch {
      return [];
    }
  });
}

// Entries that are not files have no interpreter (`readInterpreter`).
function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

// Most names in git's own folder are links to git, which is then read only once.
function onePathPerFile(paths: readonly string[]): readonly string[] {
  const byFile = new Map<string, string>();
  for (const path of paths) {
    const file = identify(path);
    if (!byFile.has(file)) byFile.set(file, path);
  }
  return [...byFile.values()];
}

function identify(path: string): string {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return path;
  }
}

// If a folder is listed by mistake, its files must not become executable.
function isFile(path: string): boolean {
  return statSync(path).isFile();
}
