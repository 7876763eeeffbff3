// What ran, found fast: an index beside the log holds one line for each command and how far every file was read. It is only
// a copy: whatever is wrong with it, it is made anew from the records.
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listAuditFiles } from './audit-files.ts';
import { digestOf } from './chain.ts';
import { createRecordReader } from './read-records.ts';
import { type CommandSummary, summariseCommands } from './summarise-commands.ts';

const indexName = 'history.index';
const version = 2;
// Below this it is quicker to read the same records again than to write the index.
const worthWriting = 500;

/** Every command that the log knows, oldest first. */
export function readHistory(dir: string): readonly CommandSummary[] {
  const known = readIndex(dir);
  const reader = createRecordReader(dir, { positions: known.positions });
  let fresh = 0;
  const commands = summariseCommands(counted(), known.commands);
  if (fresh >= worthWriting) tryToWrite(dir, commands, known.positions);
  return commands;

  function* counted() {
    for (const { record } of reader.more()) {
      fresh += 1;
      yield record;
    }
  }
}

interface Known {
  readonly commands: readonly CommandSummary[];
  readonly positions: Map<string, number>;
}

interface Head {
  readonly version: number;
  /** How far each file was read. */
  readonly positions: Readonly<Record<string, number>>;
  /** Of all lines after this one. */
  readonly sha256: string;
}

// A file that was removed takes its commands along: what is not in the log is not in its history.
function readIndex(dir: string): Known {
  try {
    const text = readFileSync(join(dir, indexName), 'utf8');
    const end = text.indexOf('\n') + 1;
    const body = text.slice(end);
    const head = JSON.parse(text.slice(0, end)) as Head;
    if (head.version !== version || head.sha256 !== digestOf(body)) throw new Error('not as it was written');
    const positions = new Map(Object.entries(head.positions));
    for (const [name, position] of positions)
      if (statSync(join(dir, name)).size < position) throw new Error('the records are not what they were');
    const lines = body.split('\n').slice(0, -1);
    return { positions, commands: lines.map((line) => JSON.parse(line) as CommandSummary) };
  } catch {
    return { commands: [], positions: new Map() };
  }
}

// Who may only read the log gets its history as well.
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
  try {
    writeFileSync(`${path}.${process.pid}`, `${JSON.stringify(head)}\n${body}`, { mode: 0o600 });
    renameSync(`${path}.${process.pid}`, path);
  } catch {}
}
