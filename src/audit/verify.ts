// Whether the records are whole:
// 1. the index is read first, since records may be added while we look, 2. every file is followed line by line,
// 3. the files of one server must follow one another, 4. what the index knows must be there.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditFile, listAuditFiles } from './audit-files.ts';
import { type Anchor, indexName, readIndex, toAnchor } from './audit-index.ts';
import type { AuditKey } from './audit-key.ts';
import { beginning, digestOf, type Place, readLine, whyMisplaced } from './chain.ts';
import { readLines } from './read-lines.ts';

/** Something that is wrong with a record. */
export interface AuditProblem {
  readonly file: string;
  /** The number of the line; null where it is about the whole file. */
  readonly line: number | null;
  readonly what: string;
}

/** What was found. */
export interface AuditReport {
  readonly files: number;
  readonly records: number;
  /** What was changed, removed or put in; the first of each file. */
  readonly problems: readonly AuditProblem[];
  /** What is no sign of a change, such as the last line of a server that was killed. */
  readonly notes: readonly string[];
}

/** Checks every record in a folder. */
export function verifyAudit(dir: string, key?: AuditKey | undefined): AuditReport {
  const index = readAnchors(dir, key);
  const problems: AuditProblem[] = [...index.problems];
  const notes: string[] = [...index.notes];
  const files = listAuditFiles(dir);
  const unknown: AuditProblem[] = [];
  let records = 0;
  for (const chain of groupByInstance(files)) {
    let place = startOf(chain, index.anchors);
    for (const file of chain) {
      const anchor = index.anchors.get(file.name);
      const found = followFile(join(dir, file.name), { ...place, anchor, key });
      records += found.records;
      if (found.problem) problems.push({ file: file.name, ...found.problem });
      if (found.tornBytes > 0)
        notes.push(
          `${file.name}: ${found.tornBytes} bytes of a last line that was never finished are left out.`,
        );
      if (!anchor && !found.hasRun)
        notes.push(`${file.name}: the index does not know it; its server was killed as it began.`);
      else if (!anchor) unknown.push({ file: file.name, line: null, what: whatUnknown(found.records) });
      place = found.next;
    }
  }
  problems.push(...stillUnknown(dir, unknown));
  const there = new Set(files.map(({ name }) => name));
  for (const { file, event, first, last } of index.anchors.values()) {
    if (there.has(file) || event === 'pruned') continue;
    problems.push({ file, line: null, what: `is missing, with records ${first} to ${last} or more` });
  }
  return { files: files.length, records, problems, notes };
}

// A file that was begun while we looked is in the index by now.
function stillUnknown(dir: string, unknown: readonly AuditProblem[]): readonly AuditProblem[] {
  if (unknown.length === 0) return [];
  if (!existsSync(join(dir, indexName))) return [{ file: indexName, line: null, what: 'is missing' }];
  const { anchors } = readAnchors(dir, undefined);
  return unknown.filter(({ file }) => !anchors.has(file));
}

// A server enters a file into the index with its first records, before anything runs.
function whatUnknown(records: number): string {
  return `has ${records} records, and the index does not know it: it was put in, or the index was made anew`;
}

function groupByInstance(files: readonly AuditFile[]): readonly (readonly AuditFile[])[] {
  const groups = new Map<string, AuditFile[]>();
  for (const file of files) {
    const group = groups.get(file.instance) ?? [];
    group.push(file);
    groups.set(file.instance, group);
  }
  return [...groups.values()];
}

// Where the earlier days of a server were removed on purpose, the index knows how they ended.
function startOf([first]: readonly AuditFile[], anchors: ReadonlyMap<string, Anchor>): Place {
  const gone = [...anchors.values()]
    .filter(
      ({ event, instance, file }) => event === 'pruned' && instance === first?.instance && file < first.name,
    )
    .sort((a, b) => a.last - b.last)
    .at(-1);
  return gone ? { seq: gone.last + 1, prev: gone.head } : beginning;
}

interface Followed {
  readonly records: number;
  readonly next: Place;
  /** Whether a command has run to its end there. */
  readonly hasRun: boolean;
  readonly tornBytes: number;
  readonly problem: Omit<AuditProblem, 'file'> | undefined;
}

function followFile(
  path: string,
  { anchor, key, ...start }: Place & { anchor: Anchor | undefined; key: AuditKey | undefined },
): Followed {
  let next: Place = start;
  let problem: Followed['problem'];
  let [records, wholeBytes] = [0, 0];
  let hasRun = false;
  for (const { line, end } of readLines(path)) {
    records += 1;
    wholeBytes = end;
    const read = readLine(line, key);
    const head = digestOf(`${line}\n`);
    const isOther = read !== null && anchor?.last === read.seq && anchor.head !== head;
    const what = read === null ? 'is no record' : (whyMisplaced(read, next) ?? read.problem);
    const found = what ?? (isOther ? writtenAnew : undefined);
    if (found !== undefined) problem ??= { line: records, what: found };
    hasRun ||= read?.body.kind === 'finished';
    next = { seq: (read?.seq ?? next.seq) + 1, prev: head };
  }
  if (anchor && next.seq <= anchor.last)
    problem ??= {
      line: records,
      what: `is not the end: records ${next.seq} to ${anchor.last} are missing`,
    };
  return { records, next, hasRun, tornBytes: statSync(path).size - wholeBytes, problem };
}

const writtenAnew = 'is not the record that the index knows: the file was written anew';

function readAnchors(dir: string, key: AuditKey | undefined) {
  const { lines, tornBytes } = readIndex(dir, key);
  const anchors = new Map<string, Anchor>();
  const problems: AuditProblem[] = [];
  let place = beginning;
  for (const [index, line] of lines.entries()) {
    const what = line === null ? 'is no record' : (whyMisplaced(line, place) ?? line.problem);
    if (what !== undefined && problems.length === 0)
      problems.push({ file: indexName, line: index + 1, what });
    if (line === null) continue;
    place = { seq: line.seq + 1, prev: line.digest };
    if (typeof line.body.file === 'string') anchors.set(line.body.file, toAnchor(line.body));
  }
  const notes =
    tornBytes > 0
      ? [`${indexName}: ${tornBytes} bytes of a last line that was never finished are left out.`]
      : [];
  return { anchors, problems, notes };
}
