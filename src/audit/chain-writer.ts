import { existsSync } from 'node:fs';
import type { Anchor, AuditIndex } from './audit-index.ts';
import type { AuditKey } from './audit-key.ts';
import { ChainHead, toLine } from './chain.ts';
import { toRecord } from './entry.ts';
import { DayFile, type DayFileOptions } from './line-file.ts';
import type { AuditRecord } from './read-records.ts';
import type { QueuedEntry, WrittenRecord } from './record-queue.ts';
import { createRedactInput, type Redact, type RedactInput } from './redact.ts';
import { MachineRedactors, type RedactFor } from './redact-machines.ts';

/** Parts that a `ChainWriter` works with. */
export interface ChainWriterDeps {
  readonly files: DayFileOptions;
  readonly anchors: FileAnchors;
  readonly redact: Redact;
  readonly redactFor?: RedactFor | undefined;
  /** Returns the key that signs records; called for each one. */
  readonly key: () => AuditKey | undefined;
}

/** Converts entries to chained lines and writes them to the `DayFile` of their day. */
export class ChainWriter {
  readonly #deps: ChainWriterDeps;
  readonly #redactors: MachineRedactors;
  readonly #redactInput: RedactInput;
  #head = ChainHead.empty();
  #file: DayFile | null = null;

  constructor(deps: ChainWriterDeps) {
    this.#deps = deps;
    this.#redactors = new MachineRedactors(deps.redact, deps.redactFor ?? (() => undefined));
    this.#redactInput = createRedactInput((id) => this.#redactors.of(id));
  }

  /** The `ChainHead` after the last written record. */
  get head(): ChainHead {
    return this.#head;
  }

  /** The day of the open file; undefined before the first record. */
  get day(): string | undefined {
    return this.#file?.day;
  }

  /** Writes entries of one day with a single write(); throws without having recorded any of them. */
  append(entries: readonly QueuedEntry[]): readonly WrittenRecord[] {
    const file = this.#openFile(entries[0]?.day ?? '');
    const written: WrittenRecord[] = [];
    let head = this.#head;
    let text = '';
    for (const { entry, time, context } of entries) {
      this.#redactors.note(entry);
      const fields = toRecord(entry, this.#redactors.of(entry.id), this.#redactInput);
      const body = { seq: head.sequence, time, prev: head.digest(), ...fields };
      const line = toLine(body, this.#deps.key());
      text += line;
      written.push({ record: body as unknown as AuditRecord, context });
      head = head.after(line);
    }
    file.append(text);
    this.#head = head;
    for (const { entry } of entries) this.#redactors.forget(entry);
    return written;
  }

  /** Anchors the appended records: a new file now, by `FileAnchors.open`, which returns true; any other within seconds. */
  anchor(): boolean {
    const file = this.#file;
    if (file === null) return false;
    const isNew = !file.isAnchored;
    if (isNew) this.#deps.anchors.open(file, this.#head);
    else this.#deps.anchors.anchorSoon(file, () => this.#head);
    return isNew;
  }

  close(): void {
    if (this.#file === null) return;
    const file = this.#file;
    this.#file = null;
    file.close();
    this.#deps.anchors.close(file, this.#head);
  }

  // Never returns to an earlier day when the clock is set back: file names give the order of the chain.
  #openFile(day: string): DayFile {
    if (this.#file !== null && this.#file.day >= day) return this.#file;
    this.close();
    this.#file = new DayFile(day, this.#deps.files, this.#head);
    return this.#file;
  }
}

// A killed server can lose the records of this long without `nacre audit verify` noticing; more often would cost time.
const anchorEveryMs = 5_000;

/** Anchors the files of one server in `index.jsonl`: at the first record, every `anchorEveryMs`, and at `close`. */
export class FileAnchors {
  readonly #index: () => AuditIndex;
  readonly #instance: string;
  #timer: NodeJS.Timeout | null = null;

  /** `index` is called for each anchor, because the key that signs it is read with the first record. */
  constructor(index: () => AuditIndex, instance: string) {
    this.#index = index;
    this.#instance = instance;
  }

  /** Enters a file into the index with its first records; throws if the index cannot be written. */
  open(file: DayFile, head: ChainHead): void {
    this.#append('open', file, head);
  }

  /** Anchors `head()` within `anchorEveryMs`; many records share one anchor. */
  anchorSoon(file: DayFile, head: () => ChainHead): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      const synced = head();
      // Anchor after fsync(), because after a power failure `verifyAudit` would report anchored but lost records as removed.
      file.sync(() => {
        if (file.isOpen && synced.sequence > file.anchored) this.#tryAppend('anchor', file, synced);
      });
    }, anchorEveryMs).unref();
  }

  /** Anchors the last record of a closed file. */
  close(file: DayFile, head: ChainHead): void {
    // Another server may have pruned the file; its `pruned` anchor has to stay the last one.
    if (head.sequence > file.first && existsSync(file.path)) this.#tryAppend('closed', file, head);
  }

  /** Cancels a pending `anchorSoon`. */
  stop(): void {
    clearTimeout(this.#timer ?? undefined);
    this.#timer = null;
  }

  #append(event: Anchor['event'], file: DayFile, head: ChainHead): void {
    const { name, first, before } = file;
    const last = head.sequence - 1;
    this.#index().append({
      event,
      file: name,
      instance: this.#instance,
      first,
      before,
      last,
      head: head.digest(),
    });
    file.anchored = head.sequence;
  }

  // A missing anchor only means that a missing end would not be noticed; the records themselves are written.
  #tryAppend(event: Anchor['event'], file: DayFile, head: ChainHead): void {
    try {
      this.#append(event, file, head);
    } catch {}
  }
}
