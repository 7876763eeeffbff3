import { existsSync } from 'node:fs';
import type { Anchor, AuditIndex } from './audit-index.ts';
import type { ChainHead } from './chain-head.ts';
import type { DayFile } from './day-file.ts';

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
