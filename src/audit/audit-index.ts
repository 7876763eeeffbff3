// The index tells which files there must be: every file of records is anchored there by its first and last record,
// so that a missing file or a missing end shows. It is a chain itself, shared by all servers and therefore locked.
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
import { beginning, digestOf, genesis, type ReadLine, readLine, toLine, whyMisplaced } from './chain.ts';
import { withLock } from './file-lock.ts';

/** What the index says of one file of records. */
export interface Anchor {
  /** `pruned` files were removed on purpose; `closed` ones get no more records. */
  readonly event: 'open' | 'anchor' | 'closed' | 'pruned';
  readonly file: string;
  readonly instance: string;
  /** Number of its first record, and the digest of the record before that. */
  readonly first: number;
  readonly before: string;
  /** Number and digest of its last record so far. */
  readonly last: number;
  readonly head: string;
}

/** The index of one folder. */
export interface AuditIndex {
  append(anchor: Anchor): void;
  /** Runs a step while no other server writes the index. */
  locked<T>(step: (append: (anchor: Anchor) => void) => T): T;
  /** Drops what later lines have made needless, once the index is large. */
  compact(isThere: (file: string) => boolean): void;
}

/** The name of the index in its folder. */
export const indexName = 'index.jsonl';

const largeBytes = 4_194_304;

/** Opens the index of a folder for writing. */
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

/** One line of the index, and what is wrong with it. */
export interface IndexLine extends ReadLine {
  readonly number: number;
  readonly digest: string;
}

/** Every whole line of the index; null for one that is no record. */
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

// A torn last line was written by a server that died with it; what it anchored is anchored again by its next line.
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
  let place = beginning;
  for (const line of lines) {
    // What shows that somebody changed it has to stay.
    if (line === null || whyMisplaced(line, place) !== undefined) return;
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

/** The anchor that a line of the index holds. */
export function toAnchor(body: Readonly<Record<string, unknown>>): Anchor {
  const { event, file, instance, first, before, last, head } = body as unknown as Anchor;
  return { event, file, instance, first, before, last, head };
}
