import { type AuditRecord, createRecordReader } from './read-records.ts';
import type { CommandSummary } from './summarise-commands.ts';

const lastKinds: ReadonlySet<string> = new Set([
  'finished',
  'refused',
  'failed',
  'skipped',
  'unknown_caller',
]);

/** Reads the records of one command, oldest first; stops at the record of its end. */
export function readRecordsOf(
  dir: string,
  { id, time }: Pick<CommandSummary, 'id' | 'time'>,
): readonly AuditRecord[] {
  const records: AuditRecord[] = [];
  for (const { record } of createRecordReader(dir, { since: time }).more()) {
    if (record.id !== id) continue;
    records.push(record);
    if (lastKinds.has(record.kind)) break;
  }
  return records;
}
