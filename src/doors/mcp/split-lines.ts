/** A line of input without its newline; of a line over the limit, only the first and last bytes. */
export type InputLine =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too_long'; readonly head: string; readonly tail: string };

const newline = 0x0a;
const endBytes = 1_024;

/** Splits chunks into lines; a line over `maxBytes` does not use more memory than that. */
export function splitLines(maxBytes: number, onLine: (line: InputLine) => void): (chunk: Buffer) => void {
  let pieces: Buffer[] = [];
  let size = 0;
  let head: Buffer | null = null;

  const append = (piece: Buffer) => {
    size += piece.length;
    pieces.push(piece);
    if (size <= maxBytes) return;
    const buffered = Buffer.concat(pieces);
    head ??= Buffer.from(buffered.subarray(0, endBytes));
    pieces = [Buffer.from(buffered.subarray(-endBytes))];
  };
  const finish = () => {
    const bytes = Buffer.concat(pieces);
    const line: InputLine = head
      ? { kind: 'too_long', head: head.toString(), tail: bytes.subarray(-endBytes).toString() }
      : { kind: 'whole', bytes };
    [pieces, size, head] = [[], 0, null];
    onLine(line);
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      append(chunk.subarray(start, end));
      finish();
      start = end + 1;
    }
    if (start < chunk.length) append(chunk.subarray(start));
  };
}
