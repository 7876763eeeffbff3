// What ran, found fast: an index beside the log holds one line for each command and how far every file was read. It is only
// a copy: whatever is wrong with it, it is made anew from the records.
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listAuditFiles } from './audit-files.ts';
import { createRecordReader } from './read-records.ts';
import { type CommandSummary, summariseCommands } from './summarise-commands.ts';

const indexName = 'history.index';
const version = 1;
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

function readIndex(dir: string): Known {
  try {
    const [first = '', ...lines] = readFileSync(join(dir, indexName), 'utf8').split('\n').slice(0, -1);
    const head = JSON.parse(first) as {
      version: number;
      positions: Record<string, number>;
      commands: number;
    };
    if (head.version !== version || head.commands !== lines.length) throw new Error('another version');
    return {
      positions: new Map(Object.entries(head.positions)),
      commands: lines.map((line) => JSON.parse(line) as CommandSummary),
    };
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
  const head = JSON.stringify({ version, positions: kept, commands: commands.length });
  const path = join(dir, indexName);
  try {
    const lines = [head, ...commands.map((command) => JSON.stringify(command))];
    writeFileSync(`${path}.${process.pid}`, `${lines.join('\n')}\n`, { mode: 0o600 });
    renameSync(`${path}.${process.pid}`, path);
  } catch {}
}
