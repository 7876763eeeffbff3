import { closeSync, readSync } from 'node:fs';
import { openRegularFile } from '../support/regular-file.ts';

const pieceBytes = 1_048_576;

/** No record has as many bytes: a command has at most 1 MiB, and JSON writes a byte of it as up to six characters. */
export const longestLine = 33_554_432;

/** A line without its line break, and the byte position after it. */
export interface FoundLine {
  readonly line: string;
  readonly end: number;
}

/**
 * Yields the complete lines of a file, starting at a byte position. Reads `pieceBytes` at a time, because a day of
 * records may exceed the maximum string length. A last line without a line break is left out. Throws if a line is longer than
 * `longestLine`, as in a file with a hole of gigabytes.
 */
export function* readLines(path: string, from = 0): Generator<FoundLine> {
  const fd = openRegularFile(path, 'read');
  try {
    let rest = Buffer.alloc(0);
    let at = from;
    for (;;) {
      const piece = Buffer.alloc(pieceBytes);
      const count = readSync(fd, piece, 0, pieceBytes, at + rest.length);
      if (count === 0) return;
      const bytes = Buffer.concat([rest, piece.subarray(0, count)]);
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        const line = bytes.toString('utf8', start, end);
        start = end + 1;
        yield { line, end: at + start };
      }
      at += start;
      rest = bytes.subarray(start);
      if (rest.length > longestLine) throw new Error(`${path} has a line of more than ${longestLine} bytes`);
    }
  } finally {
    closeSync(fd);
  }
}
