import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { listAuditFiles } from '../../../audit/audit-files.ts';
import { readRecords } from '../../../audit/feed.ts';
import type { RecordRow } from '../../../contract/console.ts';
import { toRecordRow } from './hub.ts';

/** Criteria for records; an absent field matches every record. */
export interface RecordFilter {
  readonly kind?: string | undefined;
  readonly id?: string | undefined;
  /** A text that the record contains. */
  readonly q?: string | undefined;
  /** Only records before this time. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** Records, newest first. */
export interface RecordPage {
  readonly records: readonly RecordRow[];
  /** The time before which the next page continues; null on the last page. */
  readonly next: string | null;
  /** The bytes of audit files that were read. */
  readonly searched_bytes: number;
}

// One call reads at most this much: enough for a page in a busy log, while a rare kind of record needs another call.
const maxBytes = 33_554_432;
const stepBytes = 1_048_576;

/** The newest records that match; files are read backwards, a piece at a time. */
export async function listRecords(dir: string, filter: RecordFilter): Promise<RecordPage> {
  const found: RecordRow[] = [];
  let searched = 0;
  const days = [...new Set(listAuditFiles(dir).map(({ day }) => day))].toReversed();
  for (const day of days) {
    for (const file of listAuditFiles(dir).filter((one) => one.day === day)) {
      let matching = 0;
      const { size } = await stat(join(dir, file.name)).catch(() => ({ size: 0 }));
      for (let to = size; to > 0 && matching < filter.limit && searched < maxBytes; ) {
        const from = Math.max(0, to - stepBytes);
        const rows = await readBackwards(dir, file, from, to);
        searched += to - rows.from;
        to = rows.from === to ? from : rows.from;
        const wanted = rows.records.filter((row) => matches(row, filter));
        matching += wanted.length;
        found.push(...wanted);
      }
    }
    if (found.length >= filter.limit || searched >= maxBytes) break;
  }
  found.sort((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : other.seq - one.seq));
  const records = found.slice(0, filter.limit);
  const next = found.length > filter.limit || searched >= maxBytes ? (records.at(-1)?.time ?? null) : null;
  return { records, next, searched_bytes: searched };
}

/** The complete records between two positions, and the position of the first of them. */
async function readBackwards(
  dir: string,
  file: { readonly name: string; readonly instance: string },
  from: number,
  to: number,
): Promise<{ readonly records: readonly RecordRow[]; readonly from: number }> {
  const all = [];
  for await (const { found } of readRecords(dir, file, from, to)) all.push(...found);
  // The piece usually begins in the middle of a line, so the first partial line is skipped.
  return { records: all.map(toRecordRow), from: from === 0 ? 0 : (all[0]?.from ?? to) };
}

function matches(row: RecordRow, { kind, id, q, before }: RecordFilter): boolean {
  if (kind !== undefined && row.kind !== kind) return false;
  if (id !== undefined && row.id !== id) return false;
  if (before !== undefined && row.time >= before) return false;
  return q === undefined || JSON.stringify(row).toLowerCase().includes(q.toLowerCase());
}
