import { existsSync, readdirSync } from 'node:fs';
import { NacreError } from '../contract/failure.ts';

/** A file with the records of one server and one day, by its name. */
export interface AuditFile {
  readonly name: string;
  readonly day: string;
  readonly instance: string;
}

/** The name of the file for one server and day, such as `2026-01-31_123_ab12.jsonl`. */
export function toFileName(day: string, instance: string): string {
  return `${day}_${instance}.jsonl`;
}

/** The audit files of a folder sorted by day, so that those of one server are in the order of its chain. */
export function listAuditFiles(dir: string): readonly AuditFile[] {
  if (!existsSync(dir)) return [];
  return listNames(dir)
    .toSorted()
    .flatMap((name) => toAuditFile(name) ?? []);
}

function listNames(dir: string): readonly string[] {
  try {
    return readdirSync(dir);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('audit_unavailable', `The audit log in ${dir} cannot be read: ${reason}.`, {
      hint: 'Remove the file in place of the folder, or run this as the user who owns the log.',
      cause,
    });
  }
}

/** The audit file with this name; undefined for other files. */
export function toAuditFile(name: string): AuditFile | undefined {
  const [, day, instance] = pattern.exec(name) ?? [];
  return day === undefined || instance === undefined ? undefined : { name, day, instance };
}

const pattern = /^(\d{4}-\d\d-\d\d)_([\w-]+)\.jsonl$/;
