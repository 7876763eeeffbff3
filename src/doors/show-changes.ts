/** The lines that differ between two texts, as `  - 3: old` and `  + 3: new`, in the order of the file. */
export function showChanges(before: string, after: string): readonly string[] {
  const [old, now] = [toLines(before), toLines(after)];
  const lengths = commonLengths(old, now);
  const shown: string[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && old[i] === now[j]) {
      i += 1;
      j += 1;
    } else if (
      j >= now.length ||
      (i < old.length && lengthAt(lengths, i + 1, j) >= lengthAt(lengths, i, j + 1))
    )
      shown.push(...toRow('-', old, i++));
    else shown.push(...toRow('+', now, j++));
  }
  return shown;
}

function toRow(sign: string, lines: readonly string[], index: number): readonly string[] {
  const line = lines[index] ?? '';
  return line.trim() === '' ? [] : [`  ${sign} ${index + 1}: ${line}`];
}

// The length of the longest common subsequence of `old` from line i on and `now` from line j on, for all i and j.
function commonLengths(old: readonly string[], now: readonly string[]): readonly Uint32Array[] {
  const rows = [new Uint32Array(now.length + 1)];
  for (const line of old.toReversed()) {
    const row = new Uint32Array(now.length + 1);
    for (let j = now.length - 1; j >= 0; j -= 1)
      row[j] =
        line === now[j] ? lengthAt(rows, 0, j + 1) + 1 : Math.max(lengthAt(rows, 0, j), row[j + 1] ?? 0);
    rows.unshift(row);
  }
  return rows;
}

function lengthAt(lengths: readonly Uint32Array[], i: number, j: number): number {
  return lengths[i]?.[j] ?? 0;
}

function toLines(text: string): readonly string[] {
  const lines = text.replace(/\r?\n$/, '');
  return lines === '' ? [] : lines.split(/\r?\n/);
}
