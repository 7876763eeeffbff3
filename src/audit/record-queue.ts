import type { AsyncResource } from 'node:async_hooks';
import type { AuditEntry } from './entry.ts';
import type { AuditRecord } from './read-records.ts';

/** An entry that has been accepted and is not yet in a file. */
export interface QueuedEntry {
  readonly entry: AuditEntry;
  readonly time: string;
  /** The UTC day of `time`, which names the file that the record goes to. */
  readonly day: string;
  /** The async context of the `record` call; listeners run in it. */
  readonly context: AsyncResource;
}

/** The entries that wait to be written, and the commands that lost one. */
export class RecordQueue {
  #entries: QueuedEntry[] = [];
  /** Ids of commands whose entry was dropped while another command's `record` call failed. */
  readonly #lost = new Set<string>();

  /**
   * Whether the entry may be queued. A command with a dropped record has a gap, so it gets no further record except
   * `failed`, which ends it.
   */
  accepts({ kind, id }: AuditEntry): boolean {
    return kind === 'failed' || !this.#lost.has(id);
  }

  push(queued: QueuedEntry): void {
    if (queued.entry.kind === 'failed') this.#lost.delete(queued.entry.id);
    this.#entries.push(queued);
  }

  /** The entries at the front that belong in one file: all up to the first with a later day. */
  nextBatch(): readonly QueuedEntry[] {
    const [first] = this.#entries;
    const end = first === undefined ? -1 : this.#entries.findIndex(({ day }) => day > first.day);
    return end < 0 ? this.#entries.slice() : this.#entries.slice(0, end);
  }

  /** Removes the first `count` entries, once they are written. */
  removeWritten(count: number): void {
    this.#entries.splice(0, count);
  }

  /**
   * Drops the entries after a failed write, as they were never recorded. `failedId` is the command whose `record` call
   * reports the failure; the others are refused at their next record. `finished` entries stay for the next
   * attempt, because a command that has ended must not look as if it still ran.
   */
  dropUnwritten(failedId: string): void {
    const dropped = this.#entries.filter(({ entry }) => entry.kind !== 'finished');
    for (const { entry } of dropped) if (entry.id !== failedId) this.#lost.add(entry.id);
    this.#entries = this.#entries.filter(({ entry }) => entry.kind === 'finished');
  }
}

/** A record that is in its file, with the async context of the call that recorded it. */
export interface WrittenRecord {
  readonly record: AuditRecord;
  readonly context: AsyncResource;
}

/** Passes written records to the functions that subscribed. */
export class RecordListeners {
  readonly #listeners: ((record: AuditRecord) => void)[] = [];
  #unsent: WrittenRecord[] = [];

  /** Adds a function that gets every record from now on. */
  subscribe(listener: (record: AuditRecord) => void): void {
    this.#listeners.push(listener);
  }

  /** Remembers records for the next `notify` call. */
  add(records: readonly WrittenRecord[]): void {
    this.#unsent.push(...records);
  }

  /** Passes every remembered record to every listener, in the `context` of the record. */
  notify(): void {
    const records = this.#unsent;
    this.#unsent = [];
    for (const { record, context } of records)
      for (const listener of this.#listeners)
        ignoringErrors(() => context.runInAsyncScope(listener, null, record));
  }
}

// The record is in its file already, so a listener that throws must not affect the command or other listeners.
function ignoringErrors(step: () => void): void {
  try {
    step();
  } catch {}
}
