import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProtectedUse } from '../../contract/job.ts';
import type { ProtectedPaths } from './protected-names.ts';

const refusals = /read-only file system|device or resource busy/i;
const maxNamed = 10;

/** Detects what commands did to the protected paths of one workspace. */
export class ProtectedWatch {
  readonly #paths: ProtectedPaths;
  readonly #isMounted: boolean;
  readonly #parents: readonly string[];
  #parentStamp: string;
  #missing: readonly string[];
  readonly #stamps: Map<string, string>;

  /** `isMounted` is false with Landlock, which cannot make paths in a writable folder read-only. */
  constructor(paths: ProtectedPaths, isMounted: boolean) {
    this.#paths = paths;
    this.#isMounted = isMounted;
    this.#parents = [...new Set(paths.missing.map((path) => dirname(path)))];
    this.#parentStamp = this.#stampParents();
    this.#missing = paths.missing;
    this.#stamps = new Map(isMounted ? [] : paths.readOnly.map((path) => [path, stampOf(path)]));
  }

  /** After a command: the paths that it could not write, by the messages on its stderr, and those that are new or changed. */
  report(stderr: string): ProtectedUse | undefined {
    const changed = [...this.#takeCreated(), ...this.#takeChanged()];
    const refused = this.#isMounted ? findRefused(this.#paths, stderr) : [];
    if (changed.length + refused.length === 0) return undefined;
    return { refused: refused.slice(0, maxNamed), changed: changed.slice(0, maxNamed) };
  }

  // After most commands no entry was added to these folders, and nothing else has to be checked.
  #takeCreated(): readonly string[] {
    const stamp = this.#stampParents();
    if (stamp === this.#parentStamp) return [];
    this.#parentStamp = stamp;
    const created = this.#missing.filter((path) => tryStat(path) !== undefined);
    this.#missing = this.#missing.filter((path) => !created.includes(path));
    return created;
  }

  #takeChanged(): readonly string[] {
    const changed = [...this.#stamps]
      .filter(([path, stamp]) => stampOf(path) !== stamp)
      .map(([path]) => path);
    for (const path of changed) this.#stamps.set(path, stampOf(path));
    return changed;
  }

  #stampParents(): string {
    return this.#parents.map((path) => tryStat(path)?.mtimeMs).join(' ');
  }
}

function findRefused({ readOnly, fixed }: ProtectedPaths, stderr: string): readonly string[] {
  if (!refusals.test(stderr)) return [];
  const lines = stderr.split('\n').filter((line) => refusals.test(line));
  return [...new Set(lines.flatMap((line) => bestMatch(line, [...readOnly, ...fixed])))];
}

// A line has `.git/hooks/pre-commit`, or `hooks/pre-commit` if the command ran in `.git`. The path of which it has the most
// trailing parts is reported, and of several the outermost.
function bestMatch(line: string, paths: readonly string[]): readonly string[] {
  const ranked = paths
    .map((path) => ({ path, parts: countParts(line, path.split('/')) }))
    .filter(({ parts }) => parts > 0)
    .sort((one, other) => other.parts - one.parts || one.path.length - other.path.length);
  return ranked.slice(0, 1).map(({ path }) => path);
}

function countParts(line: string, parts: readonly string[]): number {
  let count = 0;
  while (count < parts.length && isNamed(line, parts.slice(parts.length - count - 1).join('/'))) count += 1;
  return count;
}

function isNamed(line: string, name: string): boolean {
  const at = line.indexOf(name);
  return at !== -1 && !/[\w.-]/.test(line[at - 1] ?? '') && !/[\w.-]/.test(line[at + name.length] ?? '');
}

function tryStat(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

// A program cannot set `ctime` back. In a folder, the files directly in it count, too.
function stampOf(path: string): string {
  const found = tryStat(path);
  if (!found?.isDirectory()) return `${found?.ino} ${found?.ctimeMs}`;
  try {
    const entries = readdirSync(path).map((name) => tryStat(join(path, name))?.ctimeMs);
    return [found.ino, found.ctimeMs, ...entries].join(' ');
  } catch {
    return `${found.ino} ${found.ctimeMs}`;
  }
}
