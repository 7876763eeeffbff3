import { realpathSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findProgram } from '../machine/inspect.ts';
import { companionsOf } from './companions.ts';
import { readProgramNeeds } from './program-needs.ts';

/** What the kernel will execute for commands. */
export interface ExecPlan {
  /** Canonical files, and folders whose files may all be executed. */
  readonly allow: readonly string[];
  /** The files among them that nobody listed, but what is listed cannot do without. */
  readonly added: readonly string[];
  /** Listed names that are only one name among many of a program with many faces. */
  readonly manyFaces: readonly string[];
}

/** Where names are looked up. */
export interface ExecPlanMeans {
  readonly path: string;
  readonly bashPath: string;
}

const systemFolders = ['/bin', '/usr/bin', '/sbin', '/usr/sbin'];
// Every program may ask the C library to run a line of shell, and the shells run only what is allowed.
const shells = ['/bin/sh'];
const manyFaced = /^(?:busybox|toybox|coreutils|rustup)$/;
const deepestScript = 5;

/**
 * Finds all that may be executed so that the listed programs work.
 * 1. names become files, as the PATH and the system's own folders have them,
 * 2. their helpers are added, then the interpreters and loaders of everything.
 */
export function toExecPlan(names: readonly string[], means: ExecPlanMeans): ExecPlan {
  const companions = names.map(companionsOf);
  const listed = names.flatMap((name) => findFiles(name, means));
  const helpers = companions.flatMap((one) => one.names).flatMap((name) => findFiles(name, means));
  const folders = toCanonical(companions.flatMap((one) => one.folders));
  const start = [...listed, ...helpers, ...toCanonical([means.bashPath, ...shells])];
  const all = new Set([...start, ...start.flatMap((file) => findNeeds(file, means, 0))]);
  const own = new Set(listed);
  return {
    allow: [...all, ...folders],
    added: [...all].filter((file) => !own.has(file)),
    manyFaces: listed.filter((file) => manyFaced.test(basename(file))),
  };
}

function findFiles(name: string, { path }: ExecPlanMeans): readonly string[] {
  if (name.includes('/')) return toCanonical([name]).filter(isFile);
  const found = findProgram(name, path);
  const places = systemFolders.map((folder) => join(folder, name));
  return [...new Set(toCanonical([...(found === null ? [] : [found]), ...places]).filter(isFile))];
}

function findNeeds(file: string, means: ExecPlanMeans, depth: number): readonly string[] {
  const [program, ...words] = readProgramNeeds(file);
  if (program === undefined || depth > deepestScript) return [];
  // `#!/usr/bin/env -S node --flag` runs node.
  const behindEnv = basename(program) === 'env' ? words.find((word) => !/^-|=/.test(word)) : undefined;
  const needed = [...toCanonical([program]), ...(behindEnv === undefined ? [] : findFiles(behindEnv, means))];
  return needed.flatMap((one) => [one, ...findNeeds(one, means, depth + 1)]);
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

// A folder that is listed by mistake must not open all that lies in it.
function isFile(path: string): boolean {
  return statSync(path).isFile();
}
