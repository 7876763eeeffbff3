import { rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditFile, listAuditFiles } from './audit-files.ts';
import type { Anchor, AuditIndex } from './audit-index.ts';
import { digestOf, readLine } from './chain.ts';
import { readLines } from './read-lines.ts';

/** Limits on audit files, from `audit_keep_days` and `audit_max_bytes`. */
export interface Retention {
  readonly keepDays: number;
  readonly maxBytes: number;
}

const checkEveryMs = 3_600_000;
const dayMs = 86_400_000;

/**
 * Removes the oldest files. A `pruned` anchor with the last record is written to the index first, so that the next file
 * of the chain can still be verified. Files of today may still grow, so they stay.
 */
export function prune(dir: string, index: AuditIndex, { keepDays, maxBytes }: Retention, now: Date): void {
  if (!isTime(join(dir, 'pruned'), now)) return;
  const today = toDay(now);
  const firstKept = toDay(new Date(now.getTime() - keepDays * dayMs));
  const files = listAuditFiles(dir).map((file) => ({ ...file, bytes: statSync(join(dir, file.name)).size }));
  let total = files.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const file of files) {
    if (file.day >= today || (file.day >= firstKept && total <= maxBytes)) continue;
    remove(dir, index, file);
    total -= file.bytes;
  }
  index.compact((name) => files.some((file) => file.name === name));
}

function remove(dir: string, index: AuditIndex, { name, instance }: AuditFile): void {
  const path = join(dir, name);
  index.locked((append) => {
    const ends = readEnds(path);
    if (ends) append({ event: 'pruned', file: name, instance, ...ends });
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

// At most once an hour for all servers together, because there may be thousands of files. The mtime of `mark` is the last run.
function isTime(mark: string, now: Date): boolean {
  const last = statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (Math.abs(now.getTime() - last) < checkEveryMs) return false;
  writeFileSync(mark, '', { mode: 0o600 });
  utimesSync(mark, now, now);
  return true;
}

function toDay(date: Date): string {
  return date.toISOString().slice(0, 10);
}
