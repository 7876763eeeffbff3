import type { Cursor, OutputChunk, Stream } from '../../contract/job.ts';
import { createSanitiser } from '../../output/sanitise.ts';

/** Sanitised text of one stream; all output before `cursor`, of both streams, has been returned with it or before it. */
export interface StreamedText {
  readonly stream: Stream;
  readonly data: string;
  readonly cursor: Cursor;
}

/** Converts output while it is streamed: whole lines at once, unfinished ones on request. */
export interface StreamConverter {
  /** Adds a chunk that ends at the log position `end`. */
  push(chunk: OutputChunk, end: Cursor): readonly StreamedText[];
  /** Whether `flush` would return something. */
  isHolding(): boolean;
  /** Returns unfinished lines, such as prompts; a line with a carriage return may still be rewritten, and needs `all`. */
  flush(cursor: Cursor, all?: boolean): readonly StreamedText[];
  /** Returns the rest after the last chunk. */
  end(cursor: Cursor): readonly StreamedText[];
}

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const streams = ['stdout', 'stderr'] as const;

/** Creates a `StreamConverter` that sanitises text. */
export function createStreamConverter(): StreamConverter {
  const lines = { stdout: createLine('stdout'), stderr: createLine('stderr') };
  return {
    push({ stream, data }, end) {
      const other = stream === 'stdout' ? lines.stderr : lines.stdout;
      const start = end - data.length;
      const lineEnd = data.lastIndexOf(lineFeed) + 1;
      return [
        // The other stream is flushed first, so that the cursor of this chunk is correct for both streams.
        ...other.flush(start, true),
        ...lines[stream].finish(data.subarray(0, lineEnd), start + lineEnd),
        ...lines[stream].begin(data.subarray(lineEnd), end),
      ];
    },
    isHolding: () => streams.some((stream) => lines[stream].isHolding()),
    flush: (cursor, all = false) => streams.flatMap((stream) => lines[stream].flush(cursor, all)),
    end: (cursor) => streams.flatMap((stream) => lines[stream].end(cursor)),
  };
}

/** The unfinished line of one stream, of which a part may have been returned. */
function createLine(stream: Stream) {
  const sanitiser = createSanitiser({ nul: 'keep' });
  let sent = '';
  let isRewritten = false;
  const toPieces = (text: string, cursor: Cursor): StreamedText[] => {
    const data = text.startsWith(sent) ? text.slice(sent.length) : text;
    return data === '' ? [] : [{ stream, data, cursor }];
  };
  const flush = (cursor: Cursor, all: boolean) => {
    if (isRewritten && !all) return [];
    const line = sanitiser.pending();
    const pieces = toPieces(line, cursor);
    sent = line;
    return pieces;
  };
  return {
    flush,
    isHolding: () => !isRewritten && sanitiser.pending() !== sent,
    finish(data: Uint8Array, cursor: Cursor) {
      if (data.length === 0) return [];
      const pieces = toPieces(sanitiser.push(data), cursor);
      sent = '';
      isRewritten = false;
      return pieces;
    },
    begin(data: Uint8Array, cursor: Cursor) {
      isRewritten ||= data.includes(carriageReturn);
      const released = sanitiser.push(data);
      if (released === '') return [];
      // The sanitiser releases a part of a very long line.
      const pieces = toPieces(released, cursor);
      sent = '';
      return [...pieces, ...flush(cursor, true)];
    },
    end: (cursor: Cursor) => toPieces(sanitiser.end(), cursor),
  };
}
