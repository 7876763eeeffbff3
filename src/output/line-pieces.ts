import type { Cursor, OutputChunk, Stream } from '../contract/job.ts';
import { createSanitiser } from './sanitise.ts';
import { createUtf8Decoder } from './utf8.ts';

/** The form of output text: sanitised, or as the program wrote it. */
export type TextView = 'clean' | 'raw';

/** Text of one stream, usually a line, with its range in the log, which may include bytes of the other stream. */
export interface TextPiece {
  readonly stream: Stream;
  readonly text: string;
  readonly start: Cursor;
  readonly end: Cursor;
}

/** Converts output in arrival order into text pieces with their log positions. */
export interface LinePieces {
  /** Returns a piece per line; `whole` returns all finished lines of a chunk as one piece, which is many times faster. */
  push(chunks: readonly OutputChunk[], size?: 'line' | 'whole'): readonly TextPiece[];
  /** The position where the first unfinished line begins. */
  unfinishedFrom(): Cursor;
  /** The text of unfinished lines, from `unfinishedFrom` on. */
  rest(): readonly TextPiece[];
}

const lineFeed = 0x0a;
const streams = ['stdout', 'stderr'] as const;
const nothing = { stdout: 0, stderr: 0 };

/** Creates a converter for output that starts at the log position `from`; `skip` leaves out bytes of a stream before a position. */
export function createLinePieces(
  from: Cursor,
  view: TextView,
  skip: Readonly<Record<Stream, Cursor>> = nothing,
): LinePieces {
  const create = view === 'clean' ? createSanitiser : createRawLines;
  const decoders = { stdout: create(), stderr: create() };
  const starts: Partial<Record<Stream, Cursor>> = {};
  let at = from;

  // A part of a long line is returned before its end, while the decoder keeps the rest. All parts have the start of the
  // line, so that a reader that stops between two of them reads the line again, and the bytes in the decoder are not
  // lost.
  const toPiece = (stream: Stream, text: string, isLineEnd: boolean): TextPiece[] => {
    const start = starts[stream] ?? at;
    if (text === '') return [];
    if (isLineEnd) delete starts[stream];
    return [{ stream, text, start, end: at }];
  };
  const toPieces = ({ stream, data }: OutputChunk, size: 'line' | 'whole'): TextPiece[] => {
    const pieces: TextPiece[] = [];
    const skipped = Math.min(data.length, Math.max(0, skip[stream] - at));
    at += skipped;
    for (let begin = skipped; begin < data.length; ) {
      const lineEnd = size === 'line' ? data.indexOf(lineFeed, begin) : lastIndexFrom(data, begin);
      const end = lineEnd < 0 ? data.length : lineEnd + 1;
      starts[stream] ??= at;
      at += end - begin;
      pieces.push(...toPiece(stream, decoders[stream].push(data.subarray(begin, end)), lineEnd >= 0));
      begin = end;
    }
    return pieces;
  };

  return {
    push: (chunks, size = 'line') => chunks.flatMap((chunk) => toPieces(chunk, size)),
    unfinishedFrom: () => Math.min(starts.stdout ?? at, starts.stderr ?? at),
    rest: () => streams.flatMap((stream) => toPiece(stream, decoders[stream].end(), true)),
  };
}

function lastIndexFrom(data: Uint8Array, begin: number): number {
  const index = data.lastIndexOf(lineFeed);
  return index < begin ? -1 : index;
}

/** Like `createSanitiser`, but only decodes UTF-8. */
function createRawLines() {
  const decoder = createUtf8Decoder();
  let line = '';
  return {
    push(bytes: Uint8Array): string {
      line += decoder.push(bytes);
      return line.endsWith('\n') ? take() : '';
    },
    end(): string {
      line += decoder.end();
      return take();
    },
  };
  function take(): string {
    const whole = line;
    line = '';
    return whole;
  }
}
