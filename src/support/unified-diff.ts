/** Lines of context around a difference. */
const context = 3;
// Beyond this many steps the search for the shortest difference would take too long; the rest counts as replaced.
const maxSteps = 1_000;

/** A unified diff of two texts without headers of files; empty if they are equal. */
export function unifiedDiff(before: string, after: string): string {
  const [old, now] = [toLines(before), toLines(after)];
  const edits = findEdits(old.lines, now.lines);
  return toHunks(edits)
    .map((hunk) => showHunk(hunk, old, now))
    .join('');
}

interface Lines {
  readonly lines: readonly string[];
  readonly endsWithNewline: boolean;
}

function toLines(text: string): Lines {
  if (text === '') return { lines: [], endsWithNewline: true };
  const endsWithNewline = text.endsWith('\n');
  return { lines: (endsWithNewline ? text.slice(0, -1) : text).split('\n'), endsWithNewline };
}

/** One line of both texts, or of one of them, by its index. */
interface Edit {
  readonly kind: ' ' | '-' | '+';
  readonly before: number;
  readonly after: number;
}

function findEdits(before: readonly string[], after: readonly string[]): readonly Edit[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const most = Math.min(before.length, after.length) - start;
  while (end < most && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  const middle = shortest(before.slice(start, before.length - end), after.slice(start, after.length - end));
  const same = (count: number, one: number, other: number) =>
    Array.from(
      { length: count },
      (_, index) => ({ kind: ' ', before: one + index, after: other + index }) as const,
    );
  return [
    ...same(start, 0, 0),
    ...middle.map(({ kind, ...at }) => ({ kind, before: at.before + start, after: at.after + start })),
    ...same(end, before.length - end, after.length - end),
  ];
}

// Myers' algorithm: `reach` has the furthest line of `before` on each diagonal, `trace` its values before each step.
function shortest(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const limit = Math.min(before.length + after.length, maxSteps);
  const reach = new Reach(limit);
  const trace: Reach[] = [];
  for (let step = 0; step <= limit; step += 1) {
    trace.push(reach.copy(step));
    for (let diagonal = -step; diagonal <= step; diagonal += 2) {
      let x = reach.goesDown(diagonal, step) ? reach.at(diagonal + 1) : reach.at(diagonal - 1) + 1;
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1;
      reach.set(diagonal, x);
      if (x >= before.length && x - diagonal >= after.length)
        return backtrack(trace, before.length, after.length);
    }
  }
  return [
    ...before.map((_, index) => ({ kind: '-', before: index, after: 0 }) as const),
    ...after.map((_, index) => ({ kind: '+', before: before.length, after: index }) as const),
  ];
}

/** A number for each diagonal from `-steps - 1` to `steps + 1`. */
class Reach {
  readonly #steps: number;
  readonly #values: Int32Array;

  constructor(steps: number, values?: Int32Array) {
    this.#steps = steps;
    this.#values = values ?? new Int32Array(2 * steps + 3).fill(-1);
    // The search starts as if from the diagonal above the first one.
    if (values === undefined) this.set(1, 0);
  }

  copy(steps: number): Reach {
    const middle = this.#steps + 1;
    return new Reach(steps, this.#values.slice(middle - steps - 1, middle + steps + 2));
  }

  at(diagonal: number): number {
    return this.#values[this.#steps + 1 + diagonal] ?? -1;
  }

  set(diagonal: number, x: number): void {
    this.#values[this.#steps + 1 + diagonal] = x;
  }

  goesDown(diagonal: number, step: number): boolean {
    return diagonal === -step || (diagonal !== step && this.at(diagonal - 1) < this.at(diagonal + 1));
  }
}

function backtrack(trace: readonly Reach[], endX: number, endY: number): readonly Edit[] {
  const edits: Edit[] = [];
  let [x, y] = [endX, endY];
  for (const [step, reach] of [...trace.entries()].reverse()) {
    const diagonal = x - y;
    const isDown = reach.goesDown(diagonal, step);
    const previousX = reach.at(isDown ? diagonal + 1 : diagonal - 1);
    const previousY = previousX - (isDown ? diagonal + 1 : diagonal - 1);
    while (x > Math.max(previousX, 0) && y > Math.max(previousY, 0)) {
      x -= 1;
      y -= 1;
      edits.push({ kind: ' ', before: x, after: y });
    }
    if (step === 0) break;
    if (isDown) y -= 1;
    else x -= 1;
    edits.push({ kind: isDown ? '+' : '-', before: x, after: y });
  }
  return edits.reverse();
}

function toHunks(edits: readonly Edit[]): readonly (readonly Edit[])[] {
  const changed = edits.flatMap(({ kind }, index) => (kind === ' ' ? [] : [index]));
  const ranges: { from: number; to: number }[] = [];
  for (const index of changed) {
    const last = ranges.at(-1);
    if (last && index - context <= last.to) last.to = index + context + 1;
    else ranges.push({ from: Math.max(0, index - context), to: index + context + 1 });
  }
  return ranges.map(({ from, to }) => edits.slice(from, to));
}

function showHunk(hunk: readonly Edit[], before: Lines, after: Lines): string {
  const [first] = hunk;
  const count = (other: Edit['kind']) => hunk.filter(({ kind }) => kind !== other).length;
  const range = (start: number, length: number) =>
    `${length === 0 ? start : start + 1}${length === 1 ? '' : `,${length}`}`;
  const header = `@@ -${range(first?.before ?? 0, count('+'))} +${range(first?.after ?? 0, count('-'))} @@\n`;
  return header + hunk.map((edit) => showEdit(edit, before, after)).join('');
}

function showEdit({ kind, before, after }: Edit, old: Lines, now: Lines): string {
  const [side, index] = kind === '-' ? [old, before] : [now, after];
  const isOpenEnd = index === side.lines.length - 1 && !side.endsWithNewline;
  return `${kind}${side.lines[index] ?? ''}\n${isOpenEnd ? '\\ No newline at end of file\n' : ''}`;
}
