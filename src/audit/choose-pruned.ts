import type { AuditFile } from './audit-files.ts';

/** Limits on audit files, from `audit_keep_days` and `audit_max_bytes`. */
export interface Retention {
  readonly keepDays: number;
  readonly maxBytes: number;
}

/** Why a file was removed, as its `pruned` entry in the index says. */
export type PruneReason = 'audit_keep_days' | 'audit_max_bytes' | 'person';

/** An audit file with its size. */
export interface SizedFile extends AuditFile {
  readonly bytes: number;
}

/** The clock of this machine, and what the index says about it. */
export interface PruneClock {
  readonly now: Date;
  /** When the newest index entry of a day before today was written; undefined if there is none. */
  readonly lastEntry: string | undefined;
  /** When a file was last removed because of its age. */
  readonly lastAged: string | undefined;
}

/** The files to remove, all for one reason. */
export interface PruneChoice {
  readonly reason: PruneReason;
  readonly files: readonly SizedFile[];
}

const dayMs = 86_400_000;
const betweenMs = 20 * 3_600_000;

/**
 * Chooses at most the files of the oldest day. The clock alone never makes a file old: the index has to have an entry of an
 * earlier day that is itself `keepDays` after the file. So a clock that jumps ahead removes nothing on its first day, and
 * one day's files on each day after that, until it is corrected.
 */
export function choosePruned(
  files: readonly SizedFile[],
  { keepDays, maxBytes }: Retention,
  { now, lastEntry, lastAged }: PruneClock,
): PruneChoice {
  const oldest = olderThan(files, toDay(now));
  const day = oldest[0]?.day ?? '';
  const ofDay = oldest.filter((file) => file.day === day);
  const seen = Math.min(now.getTime(), toMs(lastEntry));
  const isOld = ofDay.length > 0 && day < toDay(new Date(seen - keepDays * dayMs));
  if (isOld && Math.abs(now.getTime() - toMs(lastAged)) >= betweenMs)
    return { reason: 'audit_keep_days', files: ofDay };
  return { reason: 'audit_max_bytes', files: firstBeyond(ofDay, totalOf(files) - maxBytes) };
}

/** Chooses every file beyond the limits, which only a person may ask for. */
export function chooseAllPruned(
  files: readonly SizedFile[],
  { keepDays, maxBytes }: Retention,
  now: Date,
): PruneChoice {
  const past = olderThan(files, toDay(now));
  const old = olderThan(past, toDay(new Date(now.getTime() - keepDays * dayMs)));
  const rest = past.slice(old.length);
  const excess = totalOf(files) - totalOf(old) - maxBytes;
  return { reason: 'person', files: [...old, ...firstBeyond(rest, excess)] };
}

// Sorted by name, which begins with the day.
function olderThan(files: readonly SizedFile[], day: string): readonly SizedFile[] {
  return files.filter((file) => file.day < day);
}

function firstBeyond(files: readonly SizedFile[], excess: number): readonly SizedFile[] {
  let left = excess;
  return files.filter(({ bytes }) => {
    const isBeyond = left > 0;
    left -= bytes;
    return isBeyond;
  });
}

function totalOf(files: readonly SizedFile[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

function toMs(time: string | undefined): number {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? 0 : ms;
}

/** The UTC day of a moment, as in the names of audit files. */
export function toDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}
