import type { Cursor, OutputChunk, Stream } from '../contract/job.ts';
import { createSanitiser } from './sanitise.ts';
import { createUtf8Decoder } from './utf8.ts';

/** How output is shown: as safe text, or as the program wrote it. */
export type TextView = 'clean' | 'raw';

/** Some text of one stream, usually a line, and where in the log it stands; another stream's may lie in between. */
export interface TextPiece {
  readonly stream: Stream;
  readonly text: string;
  readonly start: Cursor;
  readonly end: Cursor;
}

/** Turns output in arrival order into pieces of text that know their place. */
export interface LinePieces {
  push(chunks: readonly OutputChunk[]): readonly TextPiece[];
  /** Where the first line begins that has no end yet. */
  openFrom(): Cursor;
  /** What has no line end yet. */
  rest(): readonly TextPiece[];
}

const lineFeed = 0x0a;
const streams = ['stdout', 'stderr'] as const;

/** Makes pieces of output that starts at a position of the log. */
export function createLinePieces(from: Cursor, view: TextView): LinePieces {
  const create = view === 'clean' ? createSanitiser : createRawLines;
  const decoders = { stdout: create(), stderr: create() };
  const starts: Partial<Record<Stream, Cursor>> = {};
  let at = from;

  const toPiece = (stream: Stream, text: string): TextPiece[] => {
    const start = starts[stream] ?? at;
    if (text === '') return [];
    delete starts[stream];
    return [{ stream, text, start, end: at }];
  };
  const toPieces = ({ stream, data }: OutputChunk): TextPiece[] => {
    const pieces: TextPiece[] = [];
    for (let begin = 0; begin < data.length; ) {
      const lineEnd = data.indexOf(lineFeed, begin);
      const end = lineEnd < 0 ? data.length : lineEnd + 1;
      starts[stream] ??= at;
      at += end - begin;
      pieces.push(...toPiece(stream, decoders[stream].push(data.subarray(begin, end))));
      begin = end;
    }
    return pieces;
  };

  return {
    push: (chunks) => chunks.flatMap(toPieces),
    openFrom: () => Math.min(starts.stdout ?? at, starts.stderr ?? at),
    rest: () => streams.flatMap((stream) => toPiece(stream, decoders[stream].end())),
  };
}

/** Lines as they were written. */
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
