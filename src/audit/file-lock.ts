import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createId } from '../support/create-id.ts';

const patienceMs = 5_000;
const pauseMs = 2;
// A holder is done within moments; one that is gone may have left its lock, and one that is stopped may not block all.
const youngestGoneMs = 200;
const oldestMs = 4_000;

/** Runs a short step while no other process does; what a killed one left in the way is removed. */
export function withLock<T>(path: string, step: () => T): T {
  const own = acquire(path);
  try {
    return step();
  } finally {
    // One that was stopped for long may find another's lock in the place of its own.
    if (statSync(path, { throwIfNoEntry: false })?.ino === own) rmSync(path, { force: true });
  }
}

function acquire(path: string): number {
  const start = Date.now();
  for (;;) {
    const made = tryToMake(path);
    if (made !== undefined) return made;
    if (Date.now() - start > patienceMs) throw new Error(`${path} is held by another process`);
    const abandoned = findAbandoned(path);
    if (abandoned !== undefined) remove(path, abandoned);
    else Atomics.wait(sleeper, 0, 0, pauseMs);
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Makes the lock and tells its inode; undefined where there is one. */
function tryToMake(path: string): number | undefined {
  try {
    const fd = openSync(path, 'wx', 0o600);
    try {
      writeSync(fd, String(process.pid));
      return fstatSync(fd).ino;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined;
    throw error;
  }
}

/** The lock that somebody left behind, by its inode; undefined for one that is in use. */
function findAbandoned(path: string): number | undefined {
  try {
    const { mtimeMs, ino } = statSync(path);
    const ageMs = Date.now() - mtimeMs;
    const isGone = ageMs > youngestGoneMs && !isAlive(Number(readFileSync(path, 'utf8')));
    return ageMs > oldestMs || isGone ? ino : undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

// Moved first: of two that find it abandoned only one moves it. What the other then takes away may be a new lock, which
// goes back to its place.
function remove(path: string, abandoned: number): void {
  const aside = `${path}.${createId('old')}`;
  try {
    renameSync(path, aside);
    if (statSync(aside).ino !== abandoned) linkSync(aside, path);
    rmSync(aside, { force: true });
  } catch {}
}
