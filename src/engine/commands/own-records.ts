import type { AuditRecord } from '../../audit/read-records.ts';

/** The newest records of this server, by whose commands they are about. */
export interface OwnRecords {
  /** Says whose a command is, before anything of it is recorded. */
  claim(id: string, owner: string | undefined): void;
  observe(record: AuditRecord): void;
  /** An owner's newest records, oldest first. */
  of(owner: string): readonly AuditRecord[];
}

const mostRecords = 500;

/** Keeps records for those who may not see the log itself. */
export function createOwnRecords(): OwnRecords {
  const owners = new Map<string, string>();
  const kept: { readonly owner: string; readonly record: AuditRecord }[] = [];
  return {
    claim(id, owner) {
      if (owner === undefined) return;
      owners.set(id, owner);
      const [oldest] = owners.keys();
      if (owners.size > mostRecords && oldest !== undefined) owners.delete(oldest);
    },
    observe(record) {
      const owner = owners.get(record.id);
      if (owner === undefined) return;
      kept.push({ owner, record });
      if (kept.length > mostRecords) kept.shift();
    },
    of: (owner) => kept.flatMap((one) => (one.owner === owner ? [one.record] : [])),
  };
}
