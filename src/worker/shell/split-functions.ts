/**
 * Splits the output of `declare -f` into definitions by name. `names` is in the same order; each definition starts with
 * the line `name () ` after the end of the previous one, but a line of a here-document may look the same.
 */
export function splitFunctions(text: string, names: readonly string[]): ReadonlyMap<string, string> {
  const lines = text.split('\n');
  const starts = findStarts(lines, names);
  const toText = (start: number, end: number | undefined) => lines.slice(start, end).join('\n').trimEnd();
  return new Map(
    starts.map((start, index) => [
      names[index] ?? '',
      toText(start, starts[index + 1]).replace(attributesLine, ''),
    ]),
  );
}

function findStarts(lines: readonly string[], names: readonly string[]): readonly number[] {
  const starts: number[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const isAfterEnd = at === 0 || endLine.test(lines[at - 1] ?? '');
    if (isAfterEnd && lines[at] === `${names[starts.length]} () `) starts.push(at);
    else at = endOfDocuments(lines, at);
  }
  return starts;
}

// `declare -f` prints a function's attributes after it.
const attributesLine = /\ndeclare -.*$/;
const endLine = /^(?:\}|declare -)/;
const hereDocument = /(?<!<)<<(-?)(?!<)(?:'([^']+)'|"([^"]+)"|\\?([^\s;&|<>()'"\\]+))/g;

/** Index of the last line of the here-documents that begin on line `at`; `at` itself if there are none. */
function endOfDocuments(lines: readonly string[], at: number): number {
  let end = at;
  for (const [, dash, ...words] of (lines[at] ?? '').matchAll(hereDocument)) {
    const word = words.find((one) => one !== undefined);
    const isEnd = (line: string) => (dash ? line.replace(/^\t+/, '') : line) === word;
    // `1<<2` or a quoted text may look like a here-document; then no line ends it.
    const found = lines.findIndex((line, index) => index > end && isEnd(line));
    if (found > 0) end = found;
  }
  return end;
}
