import type { AuditKey } from './audit-key.ts';
import { toLine } from './chain.ts';
import { ChainHead } from './chain-head.ts';
import { DayFile, type DayFileOptions } from './day-file.ts';
import { toRecord } from './entry.ts';
import type { FileAnchors } from './file-anchors.ts';
import type { AuditRecord } from './read-records.ts';
import type { WrittenRecord } from './record-listeners.ts';
import type { QueuedEntry } from './record-queue.ts';
import type { Redact } from './redact.ts';
import { createRedactInput, type RedactInput } from './redact-input.ts';

/** Parts that a `ChainWriter` works with. */
export interface ChainWriterDeps {
  readonly files: DayFileOptions;
  readonly anchors: FileAnchors;
  readonly redact: Redact;
  /** Returns the key that signs records; called for each one. */
  readonly key: () => AuditKey | undefined;
}

/** Converts entries to chained lines and writes them to the `DayFile` of their day. */
export class ChainWriter {
  readonly #deps: ChainWriterDeps;
  readonly #redactInput: RedactInput;
  #head = ChainHead.empty();
  #file: DayFile | null = null;

  constructor(deps: ChainWriterDeps) {
    this.#deps = deps;
    this.#redactInput = createRedactInput(deps.redact);
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
      const fields = toRecord(entry, this.#deps.redact, this.#redactInput);
      const body = { seq: head.sequence, time, prev: head.digest(), ...fields };
      const line = toLine(body, this.#deps.key());
      text += line;
      written.push({ record: body as unknown as AuditRecord, context });
      head = head.after(line);
    }
    file.append(text);
    this.#head = head;
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
