/** A line of input without its end; of one that is too long only both ends. */
export type Line =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_long'; readonly head: string; readonly tail: string };

const newline = 0x0a;
const endBytes = 1_024;

/** Cuts a byte stream into lines, however it is chunked; a line over the limit takes no memory beyond it. */
export function splitLines(maxBytes: number, onLine: (line: Line) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let size = 0;
  let head: Buffer | null = null;

  const take = (piece: Buffer) => {
    size += piece.length;
    pieces.push(piece);
    if (size <= maxBytes) return;
    const known = Buffer.concat(pieces);
    head ??= Buffer.from(known.subarray(0, endBytes));
    pieces = [Buffer.from(known.subarray(-endBytes))];
  };
  const finish = () => {
    const bytes = Buffer.concat(pieces);
    const line: Line = head
      ? { kind: 'too_long', head: head.toString(), tail: bytes.subarray(-endBytes).toString() }
      : { kind: 'whole', bytes };
    [pieces, size, head] = [[], 0, null];
    onLine(line);
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      take(chunk.subarray(start, end));
      finish();
      start = end + 1;
    }
    if (start < chunk.length) take(chunk.subarray(start));
  };
}
