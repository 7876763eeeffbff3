/** The lines that differ between two texts, as `  - 3: old` and `  + 3: new`, in the order of the file. */
export function showChanges(before: string, after: string): readonly string[] {
  const [old, now] = [toLines(before), toLines(after)];
  const shorter = Math.min(old.length, now.length);
  const start = countEqual(shorter, (index) => old[index] === now[index]);
  const end = countEqual(shorter - start, (index) => old.at(-1 - index) === now.at(-1 - index));
  return compare(old.slice(start, old.length - end), now.slice(start, now.length - end))
    .filter(({ line }) => line.trim() !== '')
    .map(({ sign, index, line }) => `  ${sign} ${start + index + 1}: ${line}`);
}

interface Change {
  readonly sign: '-' | '+';
  readonly index: number;
  readonly line: string;
}

// Above this size, the table of `commonLengths` would take noticeable time and memory.
const maxCells = 4_000_000;

function compare(old: readonly string[], now: readonly string[]): readonly Change[] {
  const common = old.length * now.length > maxCells ? undefined : commonLengths(old, now);
  const at = (from: number, to: number) => common?.[from]?.[to] ?? 0;
  const changes: Change[] = [];
  let [from, to] = [0, 0];
  while (from < old.length || to < now.length) {
    const [removed, added] = [old[from], now[to]];
    if (common !== undefined && removed !== undefined && removed === added) {
      from += 1;
      to += 1;
    } else if (removed !== undefined && (added === undefined || at(from + 1, to) >= at(from, to + 1))) {
      changes.push({ sign: '-', index: from, line: removed });
      from += 1;
    } else if (added !== undefined) {
      changes.push({ sign: '+', index: to, line: added });
      to += 1;
    }
  }
  return changes;
}

/** For each pair of positions, the length of the longest common subsequence of the lines that follow. */
function commonLengths(old: readonly string[], now: readonly string[]): readonly Uint32Array[] {
  const table = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let from = old.length - 1; from >= 0; from -= 1)
    for (let to = now.length - 1; to >= 0; to -= 1) {
      const [row, below] = [table[from], table[from + 1]];
      if (row === undefined || below === undefined) continue;
      row[to] = old[from] === now[to] ? (below[to + 1] ?? 0) + 1 : Math.max(below[to] ?? 0, row[to + 1] ?? 0);
    }
  return table;
}

function toLines(text: string): readonly string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function countEqual(limit: number, isEqual: (index: number) => boolean): number {
  let count = 0;
  while (count < limit && isEqual(count)) count += 1;
  return count;
}
