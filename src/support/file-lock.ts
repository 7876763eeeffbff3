// A lock file with the identity of its holder. No wall clock decides: a lock is removed at once if its holder is dead, and
// otherwise once a waiter has seen the same lock for `stuckMs` of its own monotonic clock. A holder that was only slow
// notices it in `assertHeld` before it writes, and waits for the lock again.
import { closeSync, linkSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { createId } from './ids.ts';
import { isAlive, ownIdentity, type ProcessIdentity } from './process-identity.ts';
import { readRegularFile } from './regular-file.ts';

const defaultTimeoutMs = 5_000;
const stuckMs = 500;
const pollMs = 2;

/** Throws if the lock was lost to another process; called directly before each write, so that two holders never write. */
export type AssertHeld = () => void;

class LockLost extends Error {}

/** Runs a short step under a lock file. The step runs again if it lost the lock before it wrote anything. */
export function withLock<T>(
  path: string,
  step: (assertHeld: AssertHeld) => T,
  timeoutMs = defaultTimeoutMs,
): T {
  const start = performance.now();
  const own = JSON.stringify({ ...ownIdentity(), lock: createId('lock') });
  for (;;) {
    acquire(path, own, start + timeoutMs);
    try {
      return step(() => {
        if (!isHeld(path, own)) throw new LockLost();
      });
    } catch (error) {
      if (!(error instanceof LockLost)) throw error;
      if (performance.now() > start + timeoutMs) throw isLocked(path);
    } finally {
      if (contentOf(path) === own) rmSync(path, { force: true });
    }
  }
}

function acquire(path: string, own: string, deadline: number): void {
  let seen = { content: '', since: performance.now() };
  while (!tryToCreate(path, own)) {
    const now = performance.now();
    if (now > deadline) throw isLocked(path);
    const content = contentOf(path);
    if (content === undefined) continue;
    if (seen.content !== content) seen = { content, since: now };
    if (now - seen.since > stuckMs || isHolderDead(path, content)) remove(path, content);
    else Atomics.wait(sleeper, 0, 0, pollMs);
  }
}

function isLocked(path: string): Error {
  return new Error(`${path} is locked by another process`);
}

/** Throws if the lock cannot be opened, as with EMFILE: it is not lost, and the next attempt would fail in the same way. */
function isHeld(path: string, own: string): boolean {
  const isFile = lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  try {
    return isFile && readRegularFile(path, longestLock) === own;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined || code === 'ENOENT') return false;
    throw error;
  }
}

const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Creates the lock file with O_EXCL; false if it exists. */
function tryToCreate(path: string, own: string): boolean {
  try {
    const fd = openSync(path, 'wx', 0o600);
    try {
      writeSync(fd, own);
      return true;
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

// Reading a huge (perhaps sparse) file would block the event loop.
const longestLock = 4_096;

/** Identifies a lock: by its unique content, or by its inode if it is empty, too long or not a file; undefined if there is no lock. */
function contentOf(path: string): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return undefined;
  const inode = `inode ${found.ino}`;
  try {
    return found.isFile() ? readRegularFile(path, longestLock) || inode : inode;
  } catch {
    return inode;
  }
}

function isHolderDead(path: string, content: string): boolean {
  try {
    const holder = toIdentity(JSON.parse(content));
    return holder !== undefined && isAlive(holder, path) === false;
  } catch {
    // Its holder has not written its identity yet, or the file is not a lock.
    return false;
  }
}

// Earlier versions wrote only a pid, of a process on this machine.
function toIdentity(content: unknown): ProcessIdentity | undefined {
  if (typeof content === 'number') return { ...ownIdentity(), pid: content, startTime: '' };
  const { boot, namespace, pid, startTime } = Object(content) as Partial<ProcessIdentity>;
  const isWhole = [boot, namespace, startTime].every((one) => typeof one === 'string');
  return isWhole && typeof pid === 'number' ? (content as ProcessIdentity) : undefined;
}

// If two processes remove one lock, only one rename() gets it; the other may get a new lock instead and links it back.
function remove(path: string, abandoned: string): void {
  const aside = `${path}.${createId('old')}`;
  try {
    renameSync(path, aside);
    if (contentOf(aside) !== abandoned) linkSync(aside, path);
    rmSync(aside, { force: true, recursive: true });
  } catch {}
}
