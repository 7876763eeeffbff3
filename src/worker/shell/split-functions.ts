/**
 * Cuts what `declare -f` prints into definitions, by name. They come in the order of their names, each on a line of its
 * own after the end of the one before; a line of a here-document may look the same.
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

// The attributes of a function follow it.
const attributesLine = /\ndeclare -.*$/;
const endLine = /^(?:\}|declare -)/;
const hereDocument = /(?<!<)<<(-?)(?!<)(?:'([^']+)'|"([^"]+)"|\\?([^\s;&|<>()'"\\]+))/g;

/** The last line of the here-documents that begin on a line; the line itself where there are none. */
function endOfDocuments(lines: readonly string[], at: number): number {
  let end = at;
  for (const [, dash, ...words] of (lines[at] ?? '').matchAll(hereDocument)) {
    const word = words.find((one) => one !== undefined);
    const isEnd = (line: string) => (dash ? line.replace(/^\t+/, '') : line) === word;
    // A shift to the left, or a text, may look the same; then there is no such line.
    const found = lines.findIndex((line, index) => index > end && isEnd(line));
    if (found > 0) end = found;
  }
  return end;
}
