import { join } from 'node:path';
import { listAuditFiles } from './audit-files.ts';
import { readLines } from './read-lines.ts';

/** A record as it was written, with the fields that all have. */
export interface AuditRecord {
  readonly seq: number;
  readonly time: string;
  readonly kind: string;
  readonly id: string;
  readonly door: string;
  readonly client: string;
  readonly [field: string]: unknown;
}

/** Reads records where they lie, and later only what has been added. */
export interface RecordReader {
  /** Whole lines that were not read before, file by file. */
  more(): Generator<{ readonly record: AuditRecord; readonly line: string }>;
}

/** Makes a reader of the records of a folder; days before `since` are not opened. `positions` is how far each file was read. */
export function createRecordReader(
  dir: string,
  {
    since,
    positions = new Map(),
  }: { since?: string | undefined; positions?: Map<string, number> | undefined } = {},
): RecordReader {
  const firstDay = since?.slice(0, 10) ?? '';
  return {
    *more() {
      for (const { name, day } of listAuditFiles(dir)) {
        if (day < firstDay) continue;
        for (const { line, end } of readLines(join(dir, name), positions.get(name) ?? 0)) {
          positions.set(name, end);
          const record = parse(line);
          if (record && (since === undefined || record.time >= since)) yield { record, line };
        }
      }
    },
  };
}

function parse(line: string): AuditRecord | null {
  try {
    const record = JSON.parse(line) as Partial<AuditRecord>;
    return typeof record.kind === 'string' && typeof record.time === 'string'
      ? (record as AuditRecord)
      : null;
  } catch {
    return null;
  }
}
