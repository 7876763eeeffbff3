import type { AuditRecord } from '../../audit/read-records.ts';

/** The newest `AuditRecord`s of this server, by owner. */
export interface OwnRecords {
  /** Assigns a command to its owner; called before its first record. */
  claim(id: string, owner: string | undefined): void;
  observe(record: AuditRecord): void;
  /** At most `maxRecords` of the owner, oldest first. */
  of(owner: string): readonly AuditRecord[];
}

const maxRecords = 500;

/** Collects records for owners, who cannot read the audit log itself. */
export function createOwnRecords(): OwnRecords {
  const owners = new Map<string, string>();
  const newest: { readonly owner: string; readonly record: AuditRecord }[] = [];
  return {
    claim(id, owner) {
      if (owner === undefined) return;
      owners.set(id, owner);
      const [oldest] = owners.keys();
      if (owners.size > maxRecords && oldest !== undefined) owners.delete(oldest);
    },
    observe(record) {
      const owner = owners.get(record.id);
      if (owner === undefined) return;
      newest.push({ owner, record });
      if (newest.length > maxRecords) newest.shift();
    },
    of: (owner) => newest.flatMap((one) => (one.owner === owner ? [one.record] : [])),
  };
}
