// The commands that ran, for `nacre history`. `history.index` caches one line per command and how far each audit file was
// read; if it is missing, broken or outdated it is rebuilt from the records.
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readRegularFile } from '../support/regular-file.ts';
import { listAuditFiles } from './audit-files.ts';
import { digestOf } from './chain.ts';
import { createRecordReader } from './read-records.ts';
import { type CommandSummary, summariseCommands } from './summarise-commands.ts';

const indexName = 'history.index';
const version = 2;
// With fewer new records it is faster to read them again next time than to write the index.
const minNewRecords = 500;

/** Every command in the log, oldest first, for `nacre history`. */
export function readHistory(dir: string): readonly CommandSummary[] {
  const known = readIndex(dir);
  const reader = createRecordReader(dir, { positions: known.positions });
  let newRecords = 0;
  const commands = summariseCommands(counted(), known.commands);
  if (newRecords >= minNewRecords) tryToWrite(dir, commands, known.positions);
  return commands;

  function* counted() {
    for (const { record } of reader.more()) {
      newRecords += 1;
      yield record;
    }
  }
}

interface CachedHistory {
  readonly commands: readonly CommandSummary[];
  readonly positions: Map<string, number>;
}

interface Head {
  readonly version: number;
  /** The byte position up to which each file was read. */
  readonly positions: Readonly<Record<string, number>>;
  /** Digest of all lines after this one. */
  readonly sha256: string;
}

// Drops the cache if an audit file was pruned or truncated, because commands that were removed from the log must not
// stay in the history.
function readIndex(dir: string): CachedHistory {
  try {
    const text = readRegularFile(join(dir, indexName));
    const end = text.indexOf('\n') + 1;
    const body = text.slice(end);
    const head = JSON.parse(text.slice(0, end)) as Head;
    if (head.version !== version || head.sha256 !== digestOf(body)) throw new Error('the index was changed');
    const positions = new Map(Object.entries(head.positions));
    for (const [name, position] of positions)
      if (statSync(join(dir, name)).size < position) throw new Error('an audit file is shorter than before');
    const lines = body.split('\n').slice(0, -1);
    return { positions, commands: lines.map((line) => JSON.parse(line) as CommandSummary) };
  } catch {
    return { commands: [], positions: new Map() };
  }
}

// Ignores errors: a user with read-only access to the log still gets the history.
function tryToWrite(
  dir: string,
  commands: readonly CommandSummary[],
  positions: ReadonlyMap<string, number>,
): void {
  const there = new Set(listAuditFiles(dir).map(({ name }) => name));
  const kept = Object.fromEntries([...positions].filter(([name]) => there.has(name)));
  const body = commands.map((command) => `${JSON.stringify(command)}\n`).join('');
  const head: Head = { version, positions: kept, sha256: digestOf(body) };
  const path = join(dir, indexName);
  const draft = `${path}.${process.pid}`;
  try {
    rmSync(draft, { force: true });
    writeFileSync(draft, `${JSON.stringify(head)}\n${body}`, { mode: 0o600, flag: 'wx' });
    renameSync(draft, path);
  } catch {}
}
