// A configuration file of another program: read completely, replaced atomically, and only if it has not changed since.
import {
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { withLock } from '../support/file-lock.ts';
import { createId } from '../support/ids.ts';
import { makeFolder } from '../support/make-folder.ts';

/** A configuration file as `openConfigFile` read it. */
export interface ConfigFile {
  /** Its real path, with symbolic links resolved. */
  readonly path: string;
  /** Its text without a byte order mark; empty if the file does not exist. */
  readonly text: string;
  /** Replaces the text; mode, owner and byte order mark stay. Returns the backup in `backupDir`, if the file existed. */
  replace(text: string, backupDir: string): string | undefined;
}

/** Suffix of the lock file for each file that is replaced. */
export const lockSuffix = '.nacre-lock';

const maxBytes = 67_108_864;
const byteOrderMark = '\ufeff';

/** Opens a file for an edit; a missing file counts as empty. */
export function openConfigFile(named: string): ConfigFile {
  const path = resolveLinks(named);
  const stats = attempt(named, 'be read', () => statSync(path, { throwIfNoEntry: false }));
  const bytes = stats === undefined ? undefined : readWhole(named, path, stats);
  const whole = bytes === undefined ? '' : decode(named, bytes);
  const lead = whole.startsWith(byteOrderMark) ? byteOrderMark : '';
  return {
    path,
    text: whole.slice(lead.length),
    replace(text, backupDir) {
      if (stats !== undefined) attempt(named, 'be edited', () => checkWritable(path, stats));
      const backup = bytes === undefined ? undefined : backUp(path, bytes, backupDir);
      attempt(named, 'be written', () => {
        makeFolder(dirname(path), 0o755);
        replaceFile(path, `${lead}${text}`, stats, () => {
          const now = statSync(path, { throwIfNoEntry: false }) && readFileSync(path);
          if (bytes === undefined ? now !== undefined : now === undefined || !bytes.equals(now))
            throw new Error('another program has changed it in the meantime');
        });
      });
      return backup;
    },
  };
}

/** Resolves symbolic links, including a last link whose target does not exist yet. */
function resolveLinks(named: string): string {
  return attempt(named, 'be found', () => {
    let path = resolve(named);
    for (let links = 0; links < 40; links += 1) {
      try {
        return realpathSync(path);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
      const target = linkTarget(path);
      if (target === undefined) return path;
      path = resolve(dirname(path), target);
    }
    throw new Error('there are too many symbolic links');
  });
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

function readWhole(named: string, path: string, stats: Stats): Buffer {
  return attempt(named, 'be edited', () => {
    if (!stats.isFile()) throw new Error('it is not a regular file');
    if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return readFileSync(path);
  });
}

// For root, open() with O_RDWR succeeds even on a read-only file, so check the mode: the user does not want writes.
function checkWritable(path: string, { mode }: Stats): void {
  if ((mode & 0o222) === 0) throw new Error('it is read-only');
  closeSync(openSync(path, constants.O_RDWR));
}

function decode(named: string, bytes: Buffer): string {
  return attempt(named, 'be edited', () => {
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch {
      throw new Error('it is not UTF-8');
    }
  });
}

// Each backup gets its own name, so none is ever overwritten.
function backUp(path: string, bytes: Buffer, backupDir: string): string {
  return attempt(backupDir, 'store a backup of the file', () => {
    makeFolder(backupDir);
    const stamp = new Date().toISOString().replace(/[:.]/g, '-');
    for (let number = 0; ; number += 1) {
      const copy = join(backupDir, `${stamp}${number === 0 ? '' : `-${number}`}-${basename(path)}`);
      try {
        writeFileSync(copy, bytes, { flag: 'wx', mode: 0o600 });
        return copy;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  });
}

function replaceFile(path: string, text: string, before: Stats | undefined, check: () => void): void {
  const mode = before === undefined ? 0o644 : before.mode & 0o7777;
  const fresh = `${path}.${createId('nacre')}`;
  const file = openSync(fresh, 'wx', mode);
  try {
    try {
      writeFileSync(file, text);
      if (before !== undefined) copyOwnership(fresh, file, before);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    // Between the check and rename(), another nacre could replace the file, and its edit would be lost.
    withLock(`${path}${lockSuffix}`, (assertHeld) => {
      check();
      assertHeld();
      renameSync(fresh, path);
    });
  } catch (error) {
    rmSync(fresh, { force: true });
    throw error;
  }
}

// `fchmod` restores the exact mode, which the umask reduced when the new file was created.
function copyOwnership(path: string, file: number, { uid, gid, mode }: Stats): void {
  const own = fstatSync(file);
  if (own.uid !== uid || own.gid !== gid) chownSync(path, uid, gid);
  fchmodSync(file, mode & 0o7777);
}

function attempt<T>(path: string, what: string, step: () => T): T {
  try {
    return step();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('settings_invalid', `${path} cannot ${what}: ${reason}.`, {
      hint: 'Nothing was written. Correct this and run the command again, or edit the file by hand.',
      cause,
    });
  }
}
