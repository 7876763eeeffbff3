import { closeSync, futimesSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openRegularFile } from '../support/regular-file.ts';
import { type AuditFile, listAuditFiles } from './audit-files.ts';
import { type Anchor, type AuditIndex, readIndex } from './audit-index.ts';
import { digestOf, readLine } from './chain.ts';
import {
  chooseAllPruned,
  choosePruned,
  type PruneChoice,
  type PruneClock,
  type PruneReason,
  type Retention,
  type SizedFile,
  toDay,
} from './choose-pruned.ts';
import { readLines } from './read-lines.ts';

const checkEveryMs = 3_600_000;

/**
 * Removes the oldest files, at most one day's worth. A `pruned` entry with the last record and the reason is written to
 * the index first, so that `verifyAudit` expects the gap. Files of today may still grow, so they stay.
 */
export function prune(dir: string, index: AuditIndex, retention: Retention, now: Date): void {
  if (!isTime(join(dir, 'pruned'), now)) return;
  const files = listSized(dir);
  removeFiles(dir, index, choosePruned(files, retention, readClock(dir, now)));
  index.compact((name) => files.some((file) => file.name === name));
}

/** Every file beyond the limits, for a person to confirm. */
export function planPrune(dir: string, retention: Retention, now: Date): PruneChoice {
  return chooseAllPruned(listSized(dir), retention, now);
}

/** Removes the chosen files, each with its `pruned` entry. */
export function removeFiles(dir: string, index: AuditIndex, { files, reason }: PruneChoice): void {
  for (const file of files) remove(dir, index, file, reason);
}

function listSized(dir: string): readonly SizedFile[] {
  return listAuditFiles(dir).flatMap((file) => {
    const found = lstatSync(join(dir, file.name), { throwIfNoEntry: false });
    return found?.isFile() ? [{ ...file, bytes: found.size }] : [];
  });
}

function readClock(dir: string, now: Date): PruneClock {
  const entries = readIndex(dir).lines.flatMap((line) => (line === null ? [] : [line.body]));
  const times = entries.map(({ time }) => String(time));
  const aged = entries.filter(({ event, reason }) => event === 'pruned' && reason === 'audit_keep_days');
  return {
    now,
    lastEntry: times
      .filter((time) => time.slice(0, 10) < toDay(now))
      .sort()
      .at(-1),
    lastAged: aged.map(({ time }) => String(time)).at(-1),
  };
}

function remove(dir: string, index: AuditIndex, { name, instance }: AuditFile, reason: PruneReason): void {
  const path = join(dir, name);
  index.locked((append) => {
    const ends = readEnds(path);
    if (ends) append({ event: 'pruned', file: name, instance, ...ends, reason });
  });
  rmSync(path, { force: true });
}

function readEnds(path: string): Omit<Anchor, 'event' | 'file' | 'instance'> | null {
  let [start, end]: (string | undefined)[] = [];
  for (const { line } of readLines(path)) {
    start ??= line;
    end = line;
  }
  const [first, last] = [start, end].map((line) => readLine(line ?? '', undefined));
  if (!first || !last) return null;
  return { first: first.seq, before: first.prev, last: last.seq, head: digestOf(`${end}\n`) };
}

// True at most once an hour for all servers together, because there may be thousands of files. The mtime of `mark` is
// the last run; it only saves work, so a wrong mtime does no harm.
function isTime(mark: string, now: Date): boolean {
  const last = lstatSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Math.abs(now.getTime() - last) < checkEveryMs) return false;
  const fd = openRegularFile(mark, 'append');
  try {
    futimesSync(fd, now, now);
  } finally {
    closeSync(fd);
  }
  return true;
}
