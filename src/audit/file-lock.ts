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
import { createId } from '../support/ids.ts';

const timeoutMs = 5_000;
const pollMs = 2;
// A lock is normally released within milliseconds. It is removed after `deadAfterMs` if its process has died, and after
// `staleAfterMs` in any case, so that a process stopped by SIGSTOP does not block all others.
const deadAfterMs = 200;
const staleAfterMs = 4_000;

/** Runs a short step under a lock file; the lock of a dead process is removed. */
export function withLock<T>(path: string, step: () => T): T {
  const own = acquire(path);
  try {
    return step();
  } finally {
    // After a long SIGSTOP the lock may be stale, and `path` another process's lock: remove it only if it is ours.
    if (statSync(path, { throwIfNoEntry: false })?.ino === own) rmSync(path, { force: true });
  }
}

function acquire(path: string): number {
  const start = Date.now();
  for (;;) {
    const made = tryToMake(path);
    if (made !== undefined) return made;
    if (Date.now() - start > timeoutMs) throw new Error(`${path} is locked by another process`);
    const abandoned = findAbandoned(path);
    if (abandoned !== undefined) remove(path, abandoned);
    else Atomics.wait(sleeper, 0, 0, pollMs);
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Creates the lock file with O_EXCL and returns its inode; undefined if it exists. */
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

/** The inode of a lock whose process died or is too slow; undefined for a lock that is in use. */
function findAbandoned(path: string): number | undefined {
  try {
    const { mtimeMs, ino } = statSync(path);
    const ageMs = Date.now() - mtimeMs;
    const isDead = ageMs > deadAfterMs && !isAlive(Number(readFileSync(path, 'utf8')));
    return ageMs > staleAfterMs || isDead ? ino : undefined;
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

// If two processes find the lock abandoned, only one rename() gets it; the other may get a new lock instead and links it
// back.
function remove(path: string, abandoned: number): void {
  const aside = `${path}.${createId('old')}`;
  try {
    renameSync(path, aside);
    if (statSync(aside).ino !== abandoned) linkSync(aside, path);
    rmSync(aside, { force: true });
  } catch {}
}
