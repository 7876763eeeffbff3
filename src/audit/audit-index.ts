// The index (`index.jsonl`) lists the files that must exist: each is anchored there by its first and last record, so that
// `verifyAudit` notices a missing file or a truncated one. It is a chain too; all servers share it, so writers lock it.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type AssertHeld, withLock } from '../support/file-lock.ts';
import { makeFolder } from '../support/make-folder.ts';
import { openRegularFile, readRegularFile } from '../support/regular-file.ts';
import type { AuditKey } from './audit-key.ts';
import { chainStart, digestOf, explainMismatch, genesis, type ReadLine, readLine, toLine } from './chain.ts';
import type { PruneReason } from './choose-pruned.ts';

/** An entry of `index.jsonl` about one audit file. */
export interface Anchor {
  /** `pruned` files were removed on purpose; `closed` files get no more records. */
  readonly event: 'open' | 'anchor' | 'closed' | 'pruned';
  readonly file: string;
  readonly instance: string;
  /** The `seq` of its first record. */
  readonly first: number;
  /** The digest of the record before `first`. */
  readonly before: string;
  /** The `seq` of its last record so far. */
  readonly last: number;
  /** The digest of record `last`. */
  readonly head: string;
  /** Why a `pruned` file was removed; absent in entries of earlier versions. */
  readonly reason?: PruneReason | undefined;
}

/** Files that were removed on purpose, together. */
export interface PrunedFiles {
  readonly files: number;
  readonly records: number;
  /** The first and the last of their days. */
  readonly from: string;
  readonly to: string;
}

/** The index of one audit folder, opened for writing. */
export interface AuditIndex {
  append(anchor: Anchor): void;
  /** Runs `step` under the lock, so that no other server writes the index meanwhile. */
  locked<T>(step: (append: (anchor: Anchor) => void) => T): T;
  /** Once the index exceeds `largeBytes`, rewrites it with only the latest entry of each file. */
  compact(isThere: (file: string) => boolean): void;
}

/** The file name of the index. */
export const indexName = 'index.jsonl';

const lockName = 'index.lock';
const largeBytes = 4_194_304;

/** Opens `index.jsonl` of a folder for writing. */
export function createAuditIndex(
  dir: string,
  options: {
    key?: AuditKey | undefined;
    durable: boolean;
    now?: (() => Date) | undefined;
  },
): AuditIndex {
  const path = join(dir, indexName);
  const { now = () => new Date() } = options;
  const append = (body: object, assertHeld: AssertHeld) => {
    makeFolder(dir);
    const fd = openRegularFile(path, 'read and append');
    try {
      const { seq, prev, size, torn } = readEnd(fd);
      const time = now().toISOString();
      const line = toLine(
        { seq, time, prev, ...body, ...(torn > 0 && { recovered_bytes: torn }) },
        options.key,
      );
      assertHeld();
      if (torn > 0) ftruncateSync(fd, size - torn);
      writeSync(fd, line);
      if (options.durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  };
  const locked: AuditIndex['locked'] = (step) => {
    makeFolder(dir);
    return withLock(join(dir, lockName), (assertHeld) => step((anchor) => append(anchor, assertHeld)));
  };
  return {
    append: (anchor) => locked((write) => write(anchor)),
    locked,
    compact(isThere) {
      if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) < largeBytes) return;
      withLock(join(dir, lockName), (assertHeld) => rewrite(path, isThere, options.key, assertHeld));
    },
  };
}

/** A line of the index with its line number and digest. */
export interface IndexLine extends ReadLine {
  readonly number: number;
  readonly digest: string;
}

/** Reads every whole line of the index; null for a line that is not a record. */
export function readIndex(
  dir: string,
  key?: AuditKey | undefined,
): { lines: readonly (IndexLine | null)[]; tornBytes: number } {
  const path = join(dir, indexName);
  if (!existsSync(path)) return { lines: [], tornBytes: 0 };
  const texts = readRegularFile(path).split('\n');
  const torn = texts.pop() ?? '';
  const lines = texts.map((text, index) => {
    const read = readLine(text, key);
    return read && { ...read, number: index + 1, digest: digestOf(`${text}\n`) };
  });
  return { lines, tornBytes: Buffer.byteLength(torn) };
}

// A partial last line is from a server that was killed while writing it. It is cut off; `recovered_bytes` records its size.
function readEnd(fd: number): { seq: number; prev: string; size: number; torn: number } {
  const { size } = fstatSync(fd);
  const tail = Buffer.alloc(Math.min(size, 65_536));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  const end = tail.lastIndexOf(10) + 1;
  const torn = tail.length - end;
  if (end === 0) return { seq: 0, prev: genesis, size, torn };
  const line = tail.subarray(tail.lastIndexOf(10, end - 2) + 1, end);
  const last = readLine(line.toString('utf8').trimEnd(), undefined);
  return { seq: (last?.seq ?? 0) + 1, prev: digestOf(line), size, torn };
}

function rewrite(
  path: string,
  isThere: (file: string) => boolean,
  key: AuditKey | undefined,
  assertHeld: AssertHeld,
): void {
  const { lines } = readIndex(join(path, '..'));
  const latest = new Map<string, Anchor>();
  let place = chainStart;
  for (const line of lines) {
    // Keep an index that was tampered with as it is, because it is the evidence.
    if (line === null || explainMismatch(line, place) !== undefined) return;
    place = { seq: line.seq + 1, prev: line.digest };
    if (typeof line.body.file === 'string') latest.set(line.body.file, toAnchor(line.body));
  }
  const living = new Set(
    [...latest.values()].filter(({ file }) => isThere(file)).map(({ instance }) => instance),
  );
  const kept = [...latest.values()].filter(({ instance }) => living.has(instance));
  const last = lines.at(-1);
  const gone = [...latest.values()].filter(({ instance }) => !living.has(instance));
  const pruned = sumPruned(gone, lines.flatMap((line) => line?.body.pruned ?? []) as PrunedFiles[]);
  const bodies = [
    { event: 'compacted', dropped: lines.length, head: last?.digest ?? genesis, ...(pruned && { pruned }) },
    ...kept,
  ];
  let prev = genesis;
  const texts = bodies.map((body, seq) => {
    const line = toLine({ seq, time: new Date().toISOString(), prev, ...body }, key);
    prev = digestOf(line);
    return line;
  });
  // The old file is removed first, because `writeFileSync` would follow a symlink; O_EXCL does not.
  rmSync(`${path}.new`, { force: true });
  writeFileSync(`${path}.new`, texts.join(''), { mode: 0o600, flag: 'wx' });
  assertHeld();
  renameSync(`${path}.new`, path);
}

/** Adds up the `pruned` files among `anchors`, and those that a compaction added up before; null if there are none. */
export function sumPruned(
  anchors: readonly Anchor[],
  earlier: readonly PrunedFiles[] = [],
): PrunedFiles | null {
  const own = anchors.filter(({ event }) => event === 'pruned');
  const all = own.map(({ file, first, last }) => {
    const day = file.slice(0, 10);
    return { files: 1, records: last - first + 1, from: day, to: day };
  });
  return [...earlier, ...all].reduce<PrunedFiles | null>(
    (sum, one) => (sum ? joinPruned(sum, one) : one),
    null,
  );
}

function joinPruned(one: PrunedFiles, other: PrunedFiles): PrunedFiles {
  return {
    files: one.files + other.files,
    records: one.records + other.records,
    from: one.from < other.from ? one.from : other.from,
    to: one.to > other.to ? one.to : other.to,
  };
}

/** The anchor in the body of an index line. */
export function toAnchor(body: Readonly<Record<string, unknown>>): Anchor {
  const { event, file, instance, first, before, last, head, reason } = body as unknown as Anchor;
  return { event, file, instance, first, before, last, head, ...(reason !== undefined && { reason }) };
}
