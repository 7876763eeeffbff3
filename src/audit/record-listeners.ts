import type { AsyncResource } from 'node:async_hooks';
import type { AuditRecord } from './read-records.ts';

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
