/** The lines that differ between two texts, as `  - 3: old` and `  + 3: new`; their common start and end are left out. */
export function showChanges(before: string, after: string): readonly string[] {
  const [old, now] = [toLines(before), toLines(after)];
  const shorter = Math.min(old.length, now.length);
  const start = countEqual(shorter, (index) => old[index] === now[index]);
  const end = countEqual(shorter - start, (index) => old.at(-1 - index) === now.at(-1 - index));
  const show = (sign: string, lines: readonly string[]) =>
    lines
      .slice(start, lines.length - end)
      .map((line, index) => ({ line, number: start + index + 1 }))
      .filter(({ line }) => line.trim() !== '')
      .map(({ line, number }) => `  ${sign} ${number}: ${line}`);
  return [...show('-', old), ...show('+', now)];
}

function toLines(text: string): readonly string[] {
  return text.replace(/\r?\n$/, '').split(/\r?\n/);
}

function countEqual(limit: number, isEqual: (index: number) => boolean): number {
  let count = 0;
  while (count < limit && isEqual(count)) count += 1;
  return count;
}
