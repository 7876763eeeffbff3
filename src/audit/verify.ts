// Verifies that no record was changed or removed:
// 1. read index.jsonl first, because records may be added meanwhile,
// 2. check the chain in every file line by line,
// 3. check that the files of each server continue one chain,
// 4. check the ends that a detached worker has signed,
// 5. check that every file in the index exists, except for those that were removed on purpose, which are counted.
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditFile, listAuditFiles } from './audit-files.ts';
import {
  type Anchor,
  type IndexLine,
  indexName,
  type PrunedFiles,
  readIndex,
  sumPruned,
  toAnchor,
} from './audit-index.ts';
import type { AuditKey } from './audit-key.ts';
import { type ChainPosition, chainStart, digestOf, explainMismatch, readLine } from './chain.ts';
import { CommandEnds } from './command-ends.ts';
import { readLines } from './read-lines.ts';

/** A record or file that was changed, removed or inserted. */
export interface AuditProblem {
  readonly file: string;
  /** The line number; null if it is about the whole file. */
  readonly line: number | null;
  readonly what: string;
}

/** The result of `verifyAudit`. */
export interface AuditReport {
  readonly files: number;
  readonly records: number;
  /** The first problem of each file. */
  readonly problems: readonly AuditProblem[];
  /** Records that were removed on purpose, by the limits or by a person; null if none were. */
  readonly pruned: PrunedFiles | null;
  /** The commands that were started and have no recorded end. */
  readonly unfinished: readonly string[];
  /** Findings that do not indicate tampering, such as the partial last line of a killed server. */
  readonly notes: readonly string[];
}

/** Verifies every record in a folder, and the signatures if there is a key. */
export function verifyAudit(dir: string, key?: AuditKey | undefined): AuditReport {
  const steps = verifySteps(dir, key);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Like `verifyAudit`, with other work between two files. */
export async function verifySlowly(dir: string, key?: AuditKey | undefined): Promise<AuditReport> {
  const steps = verifySteps(dir, key);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
    await new Promise(setImmediate);
  }
}

function* verifySteps(dir: string, key: AuditKey | undefined): Generator<void, AuditReport> {
  const index = readAnchors(dir, key);
  const problems: AuditProblem[] = [...index.problems];
  const notes: string[] = [...index.notes];
  const files = listAuditFiles(dir);
  const unknown: AuditProblem[] = [];
  const ends = new CommandEnds();
  let records = 0;
  for (const chain of groupByInstance(files)) {
    let place = startOf(chain, index.anchors);
    for (const file of chain) {
      const anchor = index.anchors.get(file.name);
      const found = tryToVerify(join(dir, file.name), { ...place, anchor, key, ends });
      records += found.records;
      if (found.problem) problems.push({ file: file.name, ...found.problem });
      if (found.tornBytes > 0)
        notes.push(`${file.name}: the last line is incomplete; its ${found.tornBytes} bytes are ignored.`);
      if (!anchor && !found.hasRun)
        notes.push(`${file.name}: it is not in the index; its server ended while it was starting.`);
      else if (!anchor) unknown.push({ file: file.name, line: null, what: describeUnknown(found.records) });
      place = found.next;
      yield;
    }
  }
  problems.push(...stillUnknown(dir, unknown));
  const there = new Set(files.map(({ name }) => name));
  const missing = [...index.anchors.values()].filter(({ file }) => !there.has(file));
  for (const { file, event, first, last } of missing) {
    if (event === 'pruned') continue;
    problems.push({ file, line: null, what: `is missing, with records ${first} to ${last} or more` });
  }
  const unfinished = ends.unfinished();
  return {
    files: files.length,
    records,
    problems,
    pruned: sumPruned(missing, index.pruned),
    unfinished,
    notes,
  };
}

// A file that was started after `readAnchors` is in the index by now.
function stillUnknown(dir: string, unknown: readonly AuditProblem[]): readonly AuditProblem[] {
  if (unknown.length === 0) return [];
  if (!existsSync(join(dir, indexName))) return [{ file: indexName, line: null, what: 'is missing' }];
  const { anchors } = readAnchors(dir, undefined);
  return unknown.filter(({ file }) => !anchors.has(file));
}

// A server anchors a file with its first records, before any command runs, so a file with a finished command is suspicious.
function describeUnknown(records: number): string {
  return `has ${records} records but is not in the index: it was inserted, or the index was rewritten`;
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

// If earlier files of the server were pruned, its chain continues from the last `pruned` anchor.
function startOf([first]: readonly AuditFile[], anchors: ReadonlyMap<string, Anchor>): ChainPosition {
  const gone = [...anchors.values()]
    .filter(
      ({ event, instance, file }) => event === 'pruned' && instance === first?.instance && file < first.name,
    )
    .sort((a, b) => a.last - b.last)
    .at(-1);
  return gone ? { seq: gone.last + 1, prev: gone.head } : chainStart;
}

interface VerifiedFile {
  readonly records: number;
  readonly next: ChainPosition;
  /** Whether the file has a `finished` record. */
  readonly hasRun: boolean;
  readonly tornBytes: number;
  readonly problem: Omit<AuditProblem, 'file'> | undefined;
}

// Reports a file that cannot be read, such as a FIFO in its place, and continues with the other files.
function tryToVerify(path: string, expected: Parameters<typeof verifyFile>[1]): VerifiedFile {
  try {
    return verifyFile(path, expected);
  } catch (error) {
    const problem = { line: null, what: `cannot be read: ${(error as Error).message}` };
    return { records: 0, next: expected, hasRun: false, tornBytes: 0, problem };
  }
}

function verifyFile(
  path: string,
  {
    anchor,
    key,
    ends,
    ...start
  }: ChainPosition & { anchor: Anchor | undefined; key: AuditKey | undefined; ends: CommandEnds },
): VerifiedFile {
  let next: ChainPosition = start;
  let problem: VerifiedFile['problem'];
  let [records, wholeBytes] = [0, 0];
  let hasRun = false;
  for (const { line, end } of readLines(path)) {
    records += 1;
    wholeBytes = end;
    const read = readLine(line, key);
    const head = digestOf(`${line}\n`);
    const isOther = read !== null && anchor?.last === read.seq && anchor.head !== head;
    const what = read === null ? notARecord : (explainMismatch(read, next) ?? read.problem);
    const found = what ?? (isOther ? rewritten : undefined) ?? (read ? ends.add(read.body) : undefined);
    if (found !== undefined) problem ??= { line: records, what: found };
    hasRun ||= read?.body.kind === 'finished';
    next = { seq: (read?.seq ?? next.seq) + 1, prev: head };
  }
  if (anchor && next.seq <= anchor.last)
    problem ??= {
      line: records,
      what: `is not the last record: records ${next.seq} to ${anchor.last} are missing`,
    };
  return { records, next, hasRun, tornBytes: statSync(path).size - wholeBytes, problem };
}

const notARecord = 'is not a record';
const rewritten = 'differs from the record in the index: the file was rewritten';

function readAnchors(dir: string, key: AuditKey | undefined) {
  const anchors = new Map<string, Anchor>();
  const problems: AuditProblem[] = [];
  const pruned: PrunedFiles[] = [];
  const { lines, tornBytes } = tryToReadIndex(dir, key, problems);
  let place = chainStart;
  for (const [index, line] of lines.entries()) {
    const what = line === null ? notARecord : (explainMismatch(line, place) ?? line.problem);
    if (what !== undefined && problems.length === 0)
      problems.push({ file: indexName, line: index + 1, what });
    if (line === null) continue;
    place = { seq: line.seq + 1, prev: line.digest };
    if (typeof line.body.file === 'string') anchors.set(line.body.file, toAnchor(line.body));
    if (typeof line.body.pruned === 'object') pruned.push(line.body.pruned as PrunedFiles);
  }
  const notes = [
    ...(tornBytes > 0
      ? [`${indexName}: the last line is incomplete; its ${tornBytes} bytes are ignored.`]
      : []),
    ...findClockJumps(lines),
  ];
  return { anchors, problems, pruned, notes };
}

function tryToReadIndex(dir: string, key: AuditKey | undefined, problems: AuditProblem[]) {
  try {
    return readIndex(dir, key);
  } catch (error) {
    problems.push({ file: indexName, line: null, what: `cannot be read: ${(error as Error).message}` });
    return { lines: [], tornBytes: 0 };
  }
}

const dayMs = 86_400_000;

// `prune` may have removed records too early because the clock was ahead; only a later entry with an earlier time shows
// that.
function findClockJumps(lines: readonly (IndexLine | null)[]): readonly string[] {
  return lines.flatMap((line, index) => {
    const [before, after] = [lines[index - 1]?.body.time, line?.body.time].map((time) => String(time));
    const backMs = Date.parse(before ?? '') - Date.parse(after ?? '');
    if (!(backMs > dayMs)) return [];
    return [`${indexName}:${index + 1}: the clock was set back by ${Math.round(backMs / dayMs)} days.`];
  });
}
