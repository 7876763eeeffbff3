// The records of every server of this user, as they are written. The audit folder is the bus:
// 1. `fs.watch` names a changed file, and only that file is read; a slow poll of the newest files finds records that it missed,
//    and those that were written while `isFollowed` returned false,
// 2. the file is read from its last position, in slices, so that the event loop is never blocked for long,
// 3. a token encodes the positions of the newest files: a page that reconnects with it gets every later record exactly
//    once.
import { constants, type FSWatcher, watch } from 'node:fs';
import { type FileHandle, open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../support/make-folder.ts';
import { type AuditFile, toAuditFile } from './audit-files.ts';
import { longestLine } from './read-lines.ts';
import type { AuditRecord } from './read-records.ts';
import { parseRecord } from './read-records.ts';

const { O_NONBLOCK, O_RDONLY } = constants;

/** A record with its place: the instance of its server, and its bytes in a file. */
export interface FoundRecord {
  readonly record: AuditRecord;
  readonly instance: string;
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

/** Passes on the records of an audit folder. */
export interface AuditFeed {
  /** Resolves once all records that are in the folder at the time of the call have been passed to `onRecords`. */
  upToDate(): Promise<void>;
  /** The positions up to which records have been passed on. */
  token(): string;
  /** Records between a token and `token()`; undefined if they are too many, or the token is not valid. */
  since(token: string): Promise<readonly FoundRecord[] | undefined>;
  close(): void;
}

/** Options of `createAuditFeed`. */
export interface FeedOptions {
  /** Called with records in the order of each file, a slice at a time. */
  onRecords(records: readonly FoundRecord[]): void;
  /** Returns false while no page is open: only the poll reads records then, so that reading slows commands less. */
  isFollowed?(): boolean;
  /** Older files are not read once this many bytes have been. */
  readonly maxBytes?: number;
  readonly pollMs?: number;
}

const pieceBytes = 262_144;
const defaultMaxBytes = 67_108_864;
const defaultPollMs = 1_000;
const maxReplayBytes = 4_194_304;

/** Creates the feed of a folder, and reads what is in it. */
export function createAuditFeed(
  dir: string,
  { onRecords, isFollowed = () => true, maxBytes = defaultMaxBytes, pollMs = defaultPollMs }: FeedOptions,
): AuditFeed {
  makeFolder(dir);
  const positions = new Map<string, number>();
  let isClosed = false;
  const readOn = async (file: AuditFile) => {
    for await (const { found, end } of readRecords(dir, file, positions.get(file.name) ?? 0)) {
      if (isClosed) return;
      positions.set(file.name, end);
      if (found.length > 0) onRecords(found);
    }
  };
  const scanAll = async () => {
    const files = await listFiles(dir);
    const names = new Set(files.map(({ name }) => name));
    for (const name of positions.keys()) if (!names.has(name)) positions.delete(name);
    const [since = ''] = newestDays(names);
    for (const file of files) {
      if (isClosed) return;
      const at = positions.get(file.name);
      const isRead = at !== undefined && (file.name < since || (await sizeOf(join(dir, file.name))) === at);
      if (!isRead) await readOn(file);
    }
  };
  const scan = async (names: ReadonlySet<string> | 'all') => {
    if (names === 'all') return scanAll();
    for (const file of [...names].flatMap((name) => toAuditFile(name) ?? [])) await readOn(file);
  };
  const first = async () => {
    const files = await listFiles(dir);
    let bytes = 0;
    for (const file of files.toReversed()) {
      const size = await sizeOf(join(dir, file.name));
      bytes += size;
      // A file beyond the limit counts as read.
      if (bytes > maxBytes && size < bytes) positions.set(file.name, size);
    }
    await scanAll();
  };
  const scanner = createScanner(scan);
  const ready = first()
    .catch(() => {})
    .then(scanner.start);
  const watcher = tryToWatch(dir, (name) => {
    if (isFollowed()) scanner.request(name);
  });
  const timer = setInterval(() => scanner.request(), pollMs).unref();
  return {
    async upToDate() {
      await ready;
      await scanner.scanAll();
    },
    token: () => toToken(positions),
    since: (token) => readSince(dir, token, positions),
    close() {
      isClosed = true;
      clearInterval(timer);
      watcher?.close();
    },
  };
}

/**
 * Runs one scan at a time; what is requested during a scan is read after it. Without a name everything is scanned.
 * `scanAll` resolves after a scan that began after the call.
 */
function createScanner(scan: (names: ReadonlySet<string> | 'all') => Promise<void>) {
  let isBusy = true;
  let wanted: Set<string> | 'all' | undefined;
  let waiting: (() => void)[] = [];
  const next = () => {
    if (isBusy || wanted === undefined) return;
    const [names, waiters] = [wanted, waiting];
    wanted = undefined;
    waiting = [];
    isBusy = true;
    void scan(names)
      .catch(() => {})
      .then(() => {
        for (const resolve of waiters) resolve();
        finish();
      });
  };
  const finish = () => {
    isBusy = false;
    next();
  };
  const request = (name?: string | null) => {
    if (wanted !== 'all') wanted = name ? (wanted ?? new Set<string>()).add(name) : 'all';
    next();
  };
  return {
    request,
    scanAll: () =>
      new Promise<void>((resolve) => {
        waiting.push(resolve);
        request();
      }),
    start() {
      finish();
      request();
    },
  };
}

// Where `fs.watch` does not work, such as on some network file systems, the poll finds new records.
function tryToWatch(dir: string, onChange: (name: string | null) => void): FSWatcher | undefined {
  try {
    return watch(dir, { persistent: false }, (_, name) => onChange(name)).on('error', () => {});
  } catch {
    return undefined;
  }
}

async function listFiles(dir: string): Promise<readonly AuditFile[]> {
  const names = await readdir(dir).catch(() => []);
  return names.sort().flatMap((name) => toAuditFile(name) ?? []);
}

async function sizeOf(path: string): Promise<number> {
  return (await stat(path).catch(() => undefined))?.size ?? 0;
}

/** Reads the complete lines of a file from a position to another, a slice at a time. */
export async function* readRecords(
  dir: string,
  { name, instance }: Pick<AuditFile, 'name' | 'instance'>,
  from: number,
  to = Number.POSITIVE_INFINITY,
): AsyncGenerator<{ readonly found: readonly FoundRecord[]; readonly end: number }> {
  // `O_NONBLOCK`, because a FIFO would keep a thread of libuv waiting for a writer.
  const handle = await open(join(dir, name), O_RDONLY | O_NONBLOCK).catch(() => undefined);
  if (handle === undefined) return;
  try {
    if (!(await handle.stat()).isFile()) return;
    let at = from;
    for (let bytes = pieceBytes; at < to; ) {
      const piece = await readPiece(handle, at, Math.min(bytes, to - at));
      const last = piece.lastIndexOf(10);
      // A line that is longer than the piece needs a longer one; without more bytes it is not complete yet.
      if (last < 0 && (piece.length < bytes || bytes > longestLine)) return;
      if (last < 0) {
        bytes *= 2;
        continue;
      }
      const found = toRecords(piece.subarray(0, last + 1), { file: name, instance, at });
      at += last + 1;
      bytes = pieceBytes;
      yield { found, end: at };
    }
  } finally {
    await handle.close();
  }
}

async function readPiece(handle: FileHandle, at: number, bytes: number): Promise<Buffer> {
  const piece = Buffer.allocUnsafe(bytes);
  const { bytesRead } = await handle.read(piece, 0, bytes, at);
  return piece.subarray(0, bytesRead);
}

function toRecords(
  bytes: Buffer,
  { file, instance, at }: { readonly file: string; readonly instance: string; readonly at: number },
): readonly FoundRecord[] {
  const found: FoundRecord[] = [];
  for (let start = 0, end = bytes.indexOf(10); end >= 0; start = end + 1, end = bytes.indexOf(10, start)) {
    const record = parseRecord(bytes.toString('utf8', start, end));
    if (record) found.push({ record, instance, file, from: at + start, to: at + end + 1 });
  }
  return found;
}

// Files of days before the newest two get no more records.
function newestDays(names: Iterable<string>): readonly string[] {
  return [...new Set([...names].map(dayOf))].sort().slice(-2);
}

function toToken(positions: ReadonlyMap<string, number>): string {
  const days = newestDays(positions.keys());
  const kept = [...positions].filter(([name]) => days.includes(dayOf(name)));
  return Buffer.from(JSON.stringify({ from: days[0] ?? '', kept })).toString('base64url');
}

async function readSince(
  dir: string,
  token: string,
  positions: ReadonlyMap<string, number>,
): Promise<readonly FoundRecord[] | undefined> {
  const known = fromToken(token);
  if (known === undefined) return undefined;
  const found: FoundRecord[] = [];
  let bytes = 0;
  for (const [name, to] of positions) {
    const file = toAuditFile(name);
    const from = known.kept.get(name) ?? (dayOf(name) < known.from ? to : 0);
    bytes += Math.max(0, to - from);
    if (bytes > maxReplayBytes || file === undefined) return undefined;
    for await (const slice of readRecords(dir, file, from, to)) found.push(...slice.found);
  }
  return found;
}

interface Token {
  readonly from: string;
  readonly kept: ReadonlyMap<string, number>;
}

function fromToken(token: string): Token | undefined {
  try {
    const { from, kept } = JSON.parse(Buffer.from(token, 'base64url').toString()) as {
      from: unknown;
      kept: [unknown, unknown][];
    };
    const isValid = kept.every(
      ([name, at]) => typeof name === 'string' && Number.isSafeInteger(at) && Number(at) >= 0,
    );
    return isValid && typeof from === 'string'
      ? { from, kept: new Map(kept.map(([name, at]) => [String(name), Number(at)])) }
      : undefined;
  } catch {
    return undefined;
  }
}

function dayOf(name: string): string {
  return name.slice(0, 10);
}
