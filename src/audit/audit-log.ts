// The log of one server:
// 1. `RecordQueue` collects entries until one has to be written,
// 2. `ChainWriter` redacts them (entry.ts), chains them (chain.ts) and appends them to the `DayFile` of their day,
// 3. `FileAnchors` enters the first and last record of each file in the index that all servers share (audit-index.ts),
// 4. `prune` removes files that are too old or too many,
// 5. `RecordListeners` passes the written records to metrics, logs and traces.
import { AsyncResource } from 'node:async_hooks';
import { join } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { createId } from '../support/ids.ts';
import { toFileName } from './audit-files.ts';
import { type AuditIndex, createAuditIndex } from './audit-index.ts';
import type { AuditKey } from './audit-key.ts';
import { ChainWriter, FileAnchors } from './chain-writer.ts';
import type { Retention } from './choose-pruned.ts';
import type { AuditEntry } from './entry.ts';
import type { Fsync } from './line-file.ts';
import { prune } from './prune.ts';
import type { AuditRecord } from './read-records.ts';
import { RecordListeners, RecordQueue } from './record-queue.ts';
import type { Redact } from './redact.ts';
import type { RedactFor } from './redact-machines.ts';

/** Append-only record of every command: what was asked, decided and done. */
export interface AuditLog {
  /** The file of today. */
  readonly path: string;
  /** The part of its files' names that identifies the server. */
  readonly instance: string;
  /** Writes the record and all records before it; throws `audit_unavailable` if that fails. */
  record(entry: AuditEntry): void;
  /** Queues an entry that has no effect yet: it is written with the next `record`, or a few milliseconds later. */
  recordSoon(entry: AuditEntry): void;
  /** Like `record`, for an event that has already happened: returns failures as sentences instead of throwing. */
  tryRecord(entry: AuditEntry): readonly string[];
  /** Like `tryRecord`, but queued as by `recordSoon` (unless `fsync` is `always`), so the reply need not wait. */
  tryRecordSoon(entry: AuditEntry): readonly string[];
  /** Writes and publishes the queue now; entries that cannot be written stay for the next `record` call. */
  settle(): void;
  /**
   * Calls `listener` for every record, redacted, at `settle` or a few milliseconds after it is written, in the
   * async context of the call that recorded it.
   */
  subscribe(listener: (record: AuditRecord) => void): void;
  close(): void;
}

/** Options of `createAuditLog`. */
export interface AuditLogOptions {
  readonly dir: string;
  readonly fsync: Fsync;
  readonly redact: Redact;
  /** Redacts the secrets of other machines; those are not known by default. */
  readonly redactFor?: RedactFor | undefined;
  /** Reads the key that signs records, usually by `readAuditKey`; called at the first record. */
  readonly key?: (() => AuditKey) | undefined;
  /** Limits for `prune`; nothing is removed when absent. */
  readonly retention?: Retention | undefined;
  readonly now?: (() => Date) | undefined;
}

/**
 * Creates the log of one server. Writes are synchronous on purpose: a record has to be in its file before the effect it
 * describes, and a write() to the page cache takes a few microseconds, less than handing it to a worker thread.
 */
export function createAuditLog(options: AuditLogOptions): AuditLog {
  return new ServerAuditLog(options);
}

// Queued entries are written together after this delay, so that the start of an allowed command waits for one write().
const soonMs = 5;

class ServerAuditLog implements AuditLog {
  readonly #options: AuditLogOptions;
  readonly instance = createId(String(process.pid));
  readonly #now: () => Date;
  readonly #queue = new RecordQueue();
  readonly #listeners = new RecordListeners();
  readonly #anchors: FileAnchors;
  readonly #writer: ChainWriter;
  #key: AuditKey | undefined;
  #timer: NodeJS.Timeout | null = null;

  constructor(options: AuditLogOptions) {
    const { dir, fsync, redact, redactFor } = options;
    const { instance } = this;
    this.#options = options;
    this.#now = options.now ?? (() => new Date());
    this.#anchors = new FileAnchors(() => this.#openIndex(), instance);
    this.#writer = new ChainWriter({
      files: { dir, instance, fsync },
      anchors: this.#anchors,
      redact,
      redactFor,
      key: () => this.#readKey(),
    });
  }

  get path(): string {
    return this.#pathOf(this.#writer.day ?? toDay(this.#now().toISOString()));
  }

  record(entry: AuditEntry): void {
    const day = this.#enqueue(entry);
    try {
      this.#writeQueue();
    } catch (cause) {
      this.#queue.dropUnwritten(entry.id);
      throw cause instanceof NacreError ? cause : unavailable(this.#pathOf(day), cause);
    }
  }

  recordSoon(entry: AuditEntry): void {
    this.#enqueue(entry);
  }

  tryRecord(entry: AuditEntry): readonly string[] {
    return failuresOf(() => this.record(entry));
  }

  tryRecordSoon(entry: AuditEntry): readonly string[] {
    const isDurable = this.#options.fsync === 'always';
    return failuresOf(() => (isDurable ? this.record(entry) : this.recordSoon(entry)));
  }

  settle(): void {
    try {
      this.#writeQueue();
    } catch {
      // The queue keeps its entries; the next `record` call retries and reports the failure to its caller.
    }
    this.#listeners.notify();
  }

  subscribe(listener: (record: AuditRecord) => void): void {
    this.#listeners.subscribe(listener);
  }

  close(): void {
    this.#anchors.stop();
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
    try {
      this.#writeQueue();
    } finally {
      this.#listeners.notify();
      this.#writer.close();
    }
  }

  /** Queues an entry, schedules `settle`, and returns the day of the entry. */
  #enqueue(entry: AuditEntry): string {
    const time = this.#now().toISOString();
    const day = toDay(time);
    if (!this.#queue.accepts(entry))
      throw unavailable(this.#pathOf(day), new Error('an earlier record of the same command could not be'));
    this.#queue.push({ entry, time, day, context: currentContext() });
    this.#settleSoon();
    return day;
  }

  #writeQueue(): void {
    for (let batch = this.#queue.nextBatch(); batch.length > 0; batch = this.#queue.nextBatch()) {
      this.#listeners.add(this.#writer.append(batch));
      this.#queue.removeWritten(batch.length);
      if (this.#writer.anchor()) this.#tryToPrune();
    }
  }

  #settleSoon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.settle();
      // Compute the digest while no command waits; the next record needs it.
      this.#writer.head.digest();
    }, soonMs);
  }

  // A failed `prune` must not keep commands from running.
  #tryToPrune(): void {
    const { dir, retention } = this.#options;
    try {
      if (retention) prune(dir, this.#openIndex(), retention, this.#now());
    } catch {}
  }

  #openIndex(): AuditIndex {
    const { dir, fsync } = this.#options;
    return createAuditIndex(dir, { key: this.#readKey(), durable: fsync === 'always', now: this.#now });
  }

  #readKey(): AuditKey | undefined {
    this.#key ??= this.#options.key?.();
    return this.#key;
  }

  #pathOf(day: string): string {
    return join(this.#options.dir, toFileName(day, this.instance));
  }
}

// `AsyncLocalStorage.snapshot()`, or an `AsyncResource` that the garbage collector tracks, takes ten times as long.
function currentContext(): AsyncResource {
  return new AsyncResource('NacreRecord', { requireManualDestroy: true });
}

function toDay(time: string): string {
  return time.slice(0, 10);
}

function failuresOf(step: () => void): readonly string[] {
  try {
    step();
    return [];
  } catch (error) {
    return [`This could not be recorded. ${(error as Error).message}`];
  }
}

function unavailable(path: string, cause: unknown): NacreError {
  const { message } = cause as Error;
  return new NacreError('audit_unavailable', `The audit log ${path} cannot be written: ${message}.`, {
    hint: 'Nothing runs without a record: free some space, or set audit_dir to a folder that can be written.',
    cause,
  });
}
