// Records on this machine's disk of changes that commands have left on other machines, so that later servers and `nacre
// changes` can locate them, list them while their machine is off, and connect to no other machine. Each record is a
// file, STATE_DIR/machines/changes/COMMAND.
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangesEntry, ChangesResult } from '../contract/changes.ts';
import { randomHex } from '../support/ids.ts';
import { readRegularFile } from '../support/regular-file.ts';

/** Kept changes and their machine. */
export interface ChangesRecord extends ChangesEntry {
  readonly machine: string;
}

/** The records of all servers. */
export interface FarChanges {
  add(record: ChangesRecord): void;
  find(id: string): ChangesRecord | undefined;
  /** All records, the oldest first. */
  list(): readonly ChangesRecord[];
  /** Replaces the state of the record; removes the record if nothing is kept any more. */
  update(result: ChangesResult): void;
  remove(id: string): void;
}

const validId = /^[\w-]{1,100}$/;

/** Opens the records below `stateDir`; nothing is written before the first `add`. */
export function openFarChanges(stateDir: string): FarChanges {
  const folder = join(stateDir, 'machines', 'changes');
  const find = (id: string) => (validId.test(id) ? readRecord(join(folder, id)) : undefined);
  const remove = (id: string) => {
    if (validId.test(id)) rmSync(join(folder, id), { force: true });
  };
  const add = (record: ChangesRecord) => {
    if (!validId.test(record.id)) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = join(folder, `${record.id}.${randomHex(4)}`);
    writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
    renameSync(draft, join(folder, record.id));
  };
  return {
    add,
    find,
    remove,
    list: () =>
      listFiles(folder)
        .flatMap((id) => find(id) ?? [])
        .toSorted((one, other) => (one.endedAt < other.endedAt ? -1 : 1)),
    update({ id, state }) {
      const record = find(id);
      if (record && state !== 'gone') add({ ...record, state });
      else remove(id);
    },
  };
}

function readRecord(path: string): ChangesRecord | undefined {
  try {
    const record = JSON.parse(readRegularFile(path)) as ChangesRecord;
    return typeof record.machine === 'string' && typeof record.endedAt === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
