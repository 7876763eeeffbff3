// Notes on this machine's disk of changes that commands have left on other machines, so that later servers and `nacre changes` know where
// they are, list them while their machine is off, and ask no other machine. Each note is a file, STATE_DIR/machines/changes/COMMAND.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangesEntry, ChangesResult } from '../contract/changes.ts';
import { randomHex } from '../support/ids.ts';

/** Kept changes and their machine. */
export interface ChangesNote extends ChangesEntry {
  readonly machine: string;
}

/** The notes of all servers. */
export interface FarChanges {
  add(note: ChangesNote): void;
  find(id: string): ChangesNote | undefined;
  /** All notes, the oldest first. */
  list(): readonly ChangesNote[];
  /** Replaces the state of the note; removes the note if nothing is kept any more. */
  update(result: ChangesResult): void;
  remove(id: string): void;
}

const validId = /^[\w-]{1,100}$/;

/** Opens the notes below `stateDir`; nothing is written before the first `add`. */
export function openFarChanges(stateDir: string): FarChanges {
  const folder = join(stateDir, 'machines', 'changes');
  const find = (id: string) => (validId.test(id) ? readNote(join(folder, id)) : undefined);
  const remove = (id: string) => {
    if (validId.test(id)) rmSync(join(folder, id), { force: true });
  };
  const add = (note: ChangesNote) => {
    if (!validId.test(note.id)) return;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const draft = join(folder, `${note.id}.${randomHex(4)}`);
    writeFileSync(draft, JSON.stringify(note), { mode: 0o600 });
    renameSync(draft, join(folder, note.id));
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
      const note = find(id);
      if (note && state !== 'gone') add({ ...note, state });
      else remove(id);
    },
  };
}

function readNote(path: string): ChangesNote | undefined {
  try {
    const note = JSON.parse(readFileSync(path, 'utf8')) as ChangesNote;
    return typeof note.machine === 'string' && typeof note.endedAt === 'string' ? note : undefined;
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
