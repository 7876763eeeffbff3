// Whether the records are whole:
// 1. the index is read first, since records may be added while we look, 2. every file is followed line by line,
// 3. the files of one server must follow one another, 4. what the index knows must be there.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AuditFile, listAuditFiles } from './audit-files.ts';
import { type Anchor, indexName, readIndex, toAnchor } from './audit-index.ts';
import type { AuditKey } from './audit-key.ts';
import { digestOf, genesis, readLine } from './chain.ts';

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
  if (files.length > 0 && !existsSync(join(dir, indexName)))
    problems.push({ file: indexName, line: null, what: 'is missing' });
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
      if (!anchor) notes.push(`${file.name}: the index does not know it; its server was killed as it began.`);
      place = { seq: found.next, prev: found.head };
    }
  }
  const there = new Set(files.map(({ name }) => name));
  for (const { file, event, first, last } of index.anchors.values()) {
    if (there.has(file) || event === 'pruned') continue;
    problems.push({ file, line: null, what: `is missing, with records ${first} to ${last} or more` });
  }
  return { files: files.length, records, problems, notes };
}

interface Place {
  readonly seq: number;
  readonly prev: string;
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
  return gone ? { seq: gone.last + 1, prev: gone.head } : { seq: 0, prev: genesis };
}

interface Followed {
  readonly records: number;
  readonly next: number;
  readonly head: string;
  readonly tornBytes: number;
  readonly problem: Omit<AuditProblem, 'file'> | undefined;
}

function followFile(
  path: string,
  {
    seq,
    prev,
    anchor,
    key,
  }: Place & { readonly anchor: Anchor | undefined; readonly key: AuditKey | undefined },
): Followed {
  const texts = readFileSync(path, 'utf8').split('\n');
  const tornBytes = Buffer.byteLength(texts.pop() ?? '');
  let [next, head] = [seq, prev];
  let problem: Followed['problem'];
  for (const [index, text] of texts.entries()) {
    const read = readLine(text, key);
    const what = read === null ? 'is no record' : (misplaced(read, next, head) ?? read.problem);
    if (what !== undefined) problem ??= { line: index + 1, what };
    head = digestOf(`${text}\n`);
    next = (read?.seq ?? next) + 1;
    if (anchor?.last === read?.seq && anchor && anchor.head !== head)
      problem ??= {
        line: index + 1,
        what: 'is not the record that the index knows: the file was written anew',
      };
  }
  if (anchor && next <= anchor.last)
    problem ??= { line: texts.length, what: `is not the end: records ${next} to ${anchor.last} are missing` };
  return { records: texts.length, next, head, tornBytes, problem };
}

function misplaced({ seq, prev }: Place, next: number, head: string): string | undefined {
  if (seq > next)
    return `is record ${seq}, and ${seq === next + 1 ? `record ${next} is` : `records ${next} to ${seq - 1} are`} missing before it`;
  if (seq < next) return `is record ${seq} where record ${next} was to be`;
  return prev === head ? undefined : `does not follow from the record before it, which was changed`;
}

function readAnchors(dir: string, key: AuditKey | undefined) {
  const { lines, tornBytes } = readIndex(dir, key);
  const anchors = new Map<string, Anchor>();
  const problems: AuditProblem[] = [];
  let place: Place = { seq: 0, prev: genesis };
  for (const [index, line] of lines.entries()) {
    const what = line === null ? 'is no record' : (misplaced(line, place.seq, place.prev) ?? line.problem);
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
