import { join } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { listAuditFiles } from './audit-files.ts';
import { type FoundLine, readLines } from './read-lines.ts';

/** A record as it was written, with the fields that all records have. */
export interface AuditRecord {
  readonly seq: number;
  readonly time: string;
  readonly kind: string;
  readonly id: string;
  readonly door: string;
  readonly client: string;
  readonly [field: string]: unknown;
}

/** Reads the records of a folder, later only those that were added. */
export interface RecordReader {
  /** Yields the records that were not read before, file by file. */
  more(): Generator<{ readonly record: AuditRecord; readonly line: string }>;
}

/** Creates a reader; it does not open files of days before `since`, and starts each file at its entry in `positions`. */
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
        for (const { line, end } of linesOf(join(dir, name), positions.get(name))) {
          positions.set(name, end);
          const record = parseRecord(line);
          if (record && (since === undefined || record.time >= since)) yield { record, line };
        }
      }
    },
  };
}

function* linesOf(path: string, from: number | undefined): Generator<FoundLine> {
  try {
    yield* readLines(path, from);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('audit_unavailable', `The records in ${path} cannot be read: ${reason}`, {
      hint: 'Run this as the user who owns the log, or check it with nacre audit verify.',
      cause,
    });
  }
}

const texts = ['time', 'kind', 'id', 'door', 'client'];

/** A line as a record; null for others, which `nacre audit verify` reports. */
export function parseRecord(line: string): AuditRecord | null {
  try {
    const record = JSON.parse(line) as Partial<AuditRecord>;
    return texts.every((field) => typeof record[field] === 'string') ? (record as AuditRecord) : null;
  } catch {
    return null;
  }
}
