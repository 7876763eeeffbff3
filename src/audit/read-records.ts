import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { listAuditFiles } from './audit-files.ts';

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

const pieceBytes = 1_048_576;

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

// A line that is not finished yet, or never will be, is left for later.
function* readLines(path: string, from: number): Generator<{ line: string; end: number }> {
  const fd = openSync(path, 'r');
  try {
    let rest = Buffer.alloc(0);
    let at = from;
    for (;;) {
      const piece = Buffer.alloc(pieceBytes);
      const count = readSync(fd, piece, 0, pieceBytes, at + rest.length);
      if (count === 0) return;
      let bytes = Buffer.concat([rest, piece.subarray(0, count)]);
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
        at += end + 1;
        yield { line: bytes.toString('utf8', 0, end), end: at };
        bytes = bytes.subarray(end + 1);
      }
      rest = bytes;
    }
  } finally {
    closeSync(fd);
  }
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
