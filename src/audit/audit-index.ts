// The index (`index.jsonl`) lists the files that must exist: each is anchored there by its first and last record, so that
// `verifyAudit` notices a missing file or a truncated one. It is a chain too; all servers share it, so writers lock it.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../support/make-folder.ts';
import type { AuditKey } from './audit-key.ts';
import { chainStart, digestOf, explainMismatch, genesis, type ReadLine, readLine, toLine } from './chain.ts';
import { withLock } from './file-lock.ts';

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

const largeBytes = 4_194_304;

/** Opens `index.jsonl` of a folder for writing. */
export function createAuditIndex(
  dir: string,
  options: { key?: AuditKey | undefined; durable: boolean },
): AuditIndex {
  const path = join(dir, indexName);
  const append = (body: object) => {
    makeFolder(dir);
    const fd = openSync(path, 'a+', 0o600);
    try {
      const { seq, prev, torn } = readEnd(fd);
      const time = new Date().toISOString();
      const line = toLine(
        { seq, time, prev, ...body, ...(torn > 0 && { recovered_bytes: torn }) },
        options.key,
      );
      writeSync(fd, line);
      if (options.durable) fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  };
  const locked: AuditIndex['locked'] = (step) => {
    makeFolder(dir);
    return withLock(join(dir, 'index.lock'), () => step(append));
  };
  return {
    append: (anchor) => locked((write) => write(anchor)),
    locked,
    compact(isThere) {
      if (!existsSync(path) || readFileSync(path).length < largeBytes) return;
      locked(() => rewrite(path, isThere, options.key));
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
  const texts = readFileSync(path, 'utf8').split('\n');
  const torn = texts.pop() ?? '';
  const lines = texts.map((text, index) => {
    const read = readLine(text, key);
    return read && { ...read, number: index + 1, digest: digestOf(`${text}\n`) };
  });
  return { lines, tornBytes: Buffer.byteLength(torn) };
}

// A partial last line is from a server that was killed while writing it. It is cut off; `recovered_bytes` records its size.
function readEnd(fd: number): { seq: number; prev: string; torn: number } {
  const { size } = fstatSync(fd);
  const tail = Buffer.alloc(Math.min(size, 65_536));
  readSync(fd, tail, 0, tail.length, size - tail.length);
  const end = tail.lastIndexOf(10) + 1;
  const torn = tail.length - end;
  if (torn > 0) ftruncateSync(fd, size - torn);
  if (end === 0) return { seq: 0, prev: genesis, torn };
  const line = tail.subarray(tail.lastIndexOf(10, end - 2) + 1, end);
  const last = readLine(line.toString('utf8').trimEnd(), undefined);
  return { seq: (last?.seq ?? 0) + 1, prev: digestOf(line), torn };
}

function rewrite(path: string, isThere: (file: string) => boolean, key: AuditKey | undefined): void {
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
  const bodies = [{ event: 'compacted', dropped: lines.length, head: last?.digest ?? genesis }, ...kept];
  let prev = genesis;
  const texts = bodies.map((body, seq) => {
    const line = toLine({ seq, time: new Date().toISOString(), prev, ...body }, key);
    prev = digestOf(line);
    return line;
  });
  writeFileSync(`${path}.new`, texts.join(''), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** The anchor in the body of an index line. */
export function toAnchor(body: Readonly<Record<string, unknown>>): Anchor {
  const { event, file, instance, first, before, last, head } = body as unknown as Anchor;
  return { event, file, instance, first, before, last, head };
}
