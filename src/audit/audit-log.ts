// The log of one server:
// 1. an entry becomes a record with its secrets hidden (entry.ts), chained to the one before (chain.ts),
// 2. it goes into the file of its day (line-file.ts), 3. the first, the last and now and then another record is anchored
// in the index that all servers share (audit-index.ts), 4. files that are too old or too many are removed (prune.ts).
import { AsyncResource } from 'node:async_hooks';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { createId } from '../support/create-id.ts';
import { toFileName } from './audit-files.ts';
import { type Anchor, createAuditIndex } from './audit-index.ts';
import type { AuditKey } from './audit-key.ts';
import { digestOf, genesis, toLine } from './chain.ts';
import { type AuditEntry, toRecord } from './entry.ts';
import { createLineFile, type Fsync, type LineFile } from './line-file.ts';
import { prune, type Retention } from './prune.ts';
import type { AuditRecord } from './read-records.ts';
import type { Redact } from './redact.ts';
import { createRedactInput } from './redact-input.ts';

/** What was asked, decided and done, in files that only grow. */
export interface AuditLog {
  /** The file of today. */
  readonly path: string;
  /** Returns when the record is written, and with it all before it; throws `audit_unavailable` when it cannot be. */
  record(entry: AuditEntry): void;
  /** Records what has no effect of its own yet: it is written with the next record, or a moment later. */
  recordSoon(entry: AuditEntry): void;
  /** Records what has already happened; what goes wrong is returned as sentences instead of being thrown. */
  tryRecord(entry: AuditEntry): readonly string[];
  /** The same, written like that of `recordSoon`: whoever waits for an answer does not wait for its record. */
  tryRecordSoon(entry: AuditEntry): readonly string[];
  /** Writes what waits and tells it now; what cannot be written is tried again with the next record. */
  settle(): void;
  /**
   * Has every record told, at `settle` or a moment after it is written, with its secrets hidden, and in the asynchronous
   * context of whoever recorded it.
   */
  subscribe(listener: (record: AuditRecord) => void): void;
  close(): void;
}

/** How the log is kept. */
export interface AuditLogOptions {
  readonly dir: string;
  readonly fsync: Fsync;
  readonly redact: Redact;
  /** Makes the key that signs records; asked for at the first one. */
  readonly key?: (() => AuditKey) | undefined;
  /** What is removed; nothing when absent. */
  readonly retention?: Retention | undefined;
  readonly now?: (() => Date) | undefined;
}

// Long enough to cost nothing, short enough that little of a killed server's end can go missing unnoticed.
const anchorEveryMs = 5_000;
// A command that nobody has to be asked about is started sooner, and its records are written at one go.
const soonMs = 5;

interface OpenFile {
  readonly name: string;
  readonly day: string;
  readonly lines: LineFile;
  readonly first: number;
  readonly before: string;
  /** How many records were there when it was last anchored. */
  anchored: number;
}

/** The end of a chain: the number of the next record, and the digest of the last one. */
interface Place {
  readonly sequence: number;
  readonly previous: string;
}

/** What is to be recorded and not yet written. */
interface Waiting {
  readonly entry: AuditEntry;
  readonly time: string;
  readonly context: AsyncResource;
}

/** What is written and has to be told. */
interface Untold {
  readonly record: AuditRecord;
  readonly context: AsyncResource;
}

/** Lines that go into one file at one go, and where the chain stands behind them. */
interface Batch {
  readonly to: OpenFile;
  readonly lines: string[];
  readonly records: Untold[];
  end: Place;
}

/**
 * Makes the log of one server. Writes are synchronous on purpose: a record has to be there before the effect it
 * describes, and a write to the page cache takes some microseconds, less than handing it to another thread.
 */
export function createAuditLog(options: AuditLogOptions): AuditLog {
  const { dir, redact, now = () => new Date() } = options;
  const redactInput = createRedactInput(redact);
  const instance = createId(String(process.pid));
  const listeners: ((record: AuditRecord) => void)[] = [];
  let key: AuditKey | undefined;
  /** Where the chain stands, without what waits. */
  let written: Place = { sequence: 0, previous: genesis };
  let file: OpenFile | null = null;
  let anchoring: NodeJS.Timeout | null = null;
  let waiting: Waiting[] = [];
  /** Written, and not yet told. */
  let untold: Untold[] = [];
  let settling: NodeJS.Timeout | null = null;
  /** Commands that had a record waiting when another's could not be written, and have not been told. */
  const lost = new Set<string>();

  const index = () => createAuditIndex(dir, { key, durable: options.fsync === 'always' });
  const pathOf = (day: string) => join(dir, toFileName(day, instance));
  const anchor = (of: OpenFile, event: Anchor['event']) => {
    const { name, first, before } = of;
    const { sequence, previous } = written;
    index().append({ event, file: name, instance, first, before, last: sequence - 1, head: previous });
    of.anchored = sequence;
  };
  const tryAnchor = (of: OpenFile, event: Anchor['event']) => {
    try {
      const { sequence } = written;
      if (sequence > of.first && (event === 'closed' || sequence > of.anchored)) anchor(of, event);
    } catch {}
  };
  const anchorSoon = (of: OpenFile) => {
    anchoring ??= setTimeout(() => {
      anchoring = null;
      // Only what is safe on disk: a crash of the machine must not look like a missing end.
      of.lines.sync(() => file === of && tryAnchor(of, 'anchor'));
    }, anchorEveryMs).unref();
  };
  const closeFile = () => {
    if (file === null) return;
    const closing = file;
    file = null;
    closing.lines.close();
    // Another server may have removed it as too old, and its last word on it stands in the index.
    if (existsSync(join(dir, closing.name))) tryAnchor(closing, 'closed');
  };
  const openFile = (today: string): OpenFile => {
    // A clock that is set back must not lead back to a file whose records come before: the days tell the order.
    const day = file !== null && file.day > today ? file.day : today;
    if (file?.day === day) return file;
    closeFile();
    key ??= options.key?.();
    const name = toFileName(day, instance);
    file = {
      name,
      day,
      lines: createLineFile(pathOf(day), options.fsync),
      first: written.sequence,
      before: written.previous,
      anchored: written.sequence,
    };
    return file;
  };
  // What cannot be removed keeps no command from running.
  const tryToPrune = () => {
    try {
      if (options.retention) prune(dir, index(), options.retention, now());
    } catch {}
  };
  const chain = ({ entry, time, context }: Waiting, batch: Batch | null): Batch => {
    const day = toDay(time);
    // The records of one day are in their file before the next is begun.
    if (batch !== null && batch.to.day < day) write(batch);
    const to = openFile(day);
    const into = batch?.to === to ? batch : { to, lines: [], records: [], end: written };
    const { sequence, previous } = into.end;
    const body = { seq: sequence, time, prev: previous, ...toRecord(entry, redact, redactInput) };
    const line = toLine(body, key);
    into.lines.push(line);
    into.records.push({ record: body as unknown as AuditRecord, context });
    into.end = behind(line, sequence);
    return into;
  };
  const write = ({ to, lines, records, end }: Batch) => {
    to.lines.append(lines.join(''));
    written = end;
    waiting.splice(0, lines.length);
    untold.push(...records);
    if (to.anchored > to.first) return anchorSoon(to);
    anchor(to, 'open');
    tryToPrune();
  };
  const writeWaiting = () => {
    let batch: Batch | null = null;
    for (const one of [...waiting]) batch = chain(one, batch);
    if (batch !== null) write(batch);
  };
  const expect = (entry: AuditEntry, time: string) => {
    if (entry.kind === 'failed') lost.delete(entry.id);
    else if (lost.has(entry.id))
      throw unavailable(pathOf(toDay(time)), new Error('an earlier record of the same command could not be'));
    waiting.push({ entry, time, context: toContext() });
  };
  // What could not be written was not recorded: the chain goes on where the file ends. Only the ends of others are kept
  // for the next try, since they cannot be told any more.
  const dropWaiting = (told: string) => {
    const others = waiting.filter(({ entry }) => entry.id !== told);
    for (const { entry } of others) if (entry.kind !== 'finished') lost.add(entry.id);
    waiting = others.filter(({ entry }) => entry.kind === 'finished');
  };
  const record = (entry: AuditEntry) => {
    const time = now().toISOString();
    expect(entry, time);
    settleSoon();
    try {
      writeWaiting();
    } catch (cause) {
      dropWaiting(entry.id);
      throw cause instanceof NacreError ? cause : unavailable(pathOf(toDay(time)), cause);
    }
  };
  const tell = () => {
    const telling = untold;
    untold = [];
    for (const { record, context } of telling)
      for (const listener of listeners) tryToTell(() => context.runInAsyncScope(listener, null, record));
  };
  const settle = () => {
    try {
      writeWaiting();
    } catch {
      // The next record tries again, and its caller is told.
    }
    tell();
  };
  const settleSoon = () => {
    settling ??= setTimeout(() => {
      settling = null;
      settle();
      // The next record needs it, and somebody may wait for that one.
      void written.previous;
    }, soonMs);
  };

  const recordSoon = (entry: AuditEntry) => {
    expect(entry, now().toISOString());
    settleSoon();
  };

  return {
    get path() {
      return pathOf(file?.day ?? toDay(now().toISOString()));
    },
    record,
    recordSoon,
    tryRecord: (entry) => orToldWhy(() => record(entry)),
    tryRecordSoon: (entry) =>
      orToldWhy(() => (options.fsync === 'always' ? record(entry) : recordSoon(entry))),
    settle,
    subscribe: (listener) => void listeners.push(listener),
    close() {
      for (const timer of [anchoring, settling]) clearTimeout(timer ?? undefined);
      anchoring = null;
      settling = null;
      try {
        writeWaiting();
      } finally {
        tell();
        closeFile();
      }
    },
  };
}

// Only the next record has to know the digest, and whoever waits for this one does not wait for that.
function behind(line: string, sequence: number): Place {
  let digest: string | null = null;
  return {
    sequence: sequence + 1,
    get previous() {
      digest ??= digestOf(line);
      return digest;
    },
  };
}

// A snapshot of AsyncLocalStorage, or one that is to be watched by the garbage collector, takes ten times as long.
function toContext(): AsyncResource {
  return new AsyncResource('NacreRecord', { requireManualDestroy: true });
}

// It is written, whatever its listeners make of it.
function tryToTell(tell: () => void): void {
  try {
    tell();
  } catch {}
}

function toDay(time: string): string {
  return time.slice(0, 10);
}

function orToldWhy(step: () => void): readonly string[] {
  try {
    step();
    return [];
  } catch (error) {
    return [`This could not be recorded. ${(error as Error).message}`];
  }
}

function unavailable(path: string, cause: unknown): NacreError {
  const { message } = cause as Error;
  return new NacreError('audit_unavailable', `The audit log ${path} cannot be written: ${message}`, {
    hint: 'Nothing runs without a record: free some space, or set audit_dir to a folder that can be written.',
    cause,
  });
}
