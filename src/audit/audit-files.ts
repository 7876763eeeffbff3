import { existsSync, readdirSync } from 'node:fs';

/** A file of records by its name: one day of one server. */
export interface AuditFile {
  readonly name: string;
  readonly day: string;
  readonly instance: string;
}

/** The name of the file for one day of one server. */
export function toFileName(day: string, instance: string): string {
  return `${day}_${instance}.jsonl`;
}

/** The files of records in a folder, by day; one server's are in the order of its chain. */
export function listAuditFiles(dir: string): readonly AuditFile[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .sort()
    .flatMap((name) => {
      const [, day, instance] = pattern.exec(name) ?? [];
      return day === undefined || instance === undefined ? [] : [{ name, day, instance }];
    });
}

const pattern = /^(\d{4}-\d\d-\d\d)_([\w-]+)\.jsonl$/;
