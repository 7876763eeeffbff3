// The whole output of a command as a file: its bytes, its text without escape sequences, or an asciicast recording.
import { Readable } from 'node:stream';
import type { ReadResult } from '../../../contract/job.ts';
import type { StreamConverter } from '../../../engine/reading/stream-text.ts';
import { toEventLine, toHeaderLine } from '../../../recordings/asciicast.ts';
import { HttpProblem } from '../requests/problem.ts';
import type { Reply } from '../requests/raw-http.ts';
import type { OpenOutput } from './command-output.ts';
import { cutAtMarks } from './cut-at-marks.ts';

const pieceBytes = 1_048_576;

/** The format of a downloaded file. */
export type DownloadFormat = 'raw' | 'text' | 'cast';

/** Parses the query parameter `download`; an empty value means `raw`. */
export function parseDownloadFormat(value: string): DownloadFormat {
  if (value === '' || value === 'raw') return 'raw';
  if (value === 'text' || value === 'cast') return value;
  throw new HttpProblem(400, 'download must be raw, text or cast.');
}

/** Options of `download`. */
export interface DownloadOptions {
  readonly id: string;
  readonly format: DownloadFormat;
  readonly startedAt: string | null;
  readonly converter: () => StreamConverter;
}

/** Replies with the output that the command has printed so far, as a file. */
export async function download(output: OpenOutput, options: DownloadOptions): Promise<Reply> {
  const { read, close } = output;
  const { end, goneBefore = 0 } = await read(0, { waitMs: 0, maxBytes: 0 });
  const pieces = async function* () {
    try {
      for (let at = goneBefore; at < end; ) {
        const result = await read(at, { waitMs: 0, maxBytes: Math.min(pieceBytes, end - at) });
        if (result.next === at) break;
        yield { from: at, result };
        at = result.next;
      }
    } finally {
      close();
    }
  };
  const { id, format } = options;
  const { type, suffix, write } = formats[format];
  const headers = {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${id}.${suffix}"`,
  };
  const open = () => Readable.from(write(pieces(), options));
  const length = format === 'raw' ? end - goneBefore : undefined;
  return { status: 200, headers, body: { length, open, discard: async () => close() } };
}

/** A part of the output, from a cursor on. */
interface Piece {
  readonly from: number;
  readonly result: ReadResult;
}
type Write = (pieces: AsyncIterable<Piece>, options: DownloadOptions) => AsyncIterable<Uint8Array | string>;

const formats: Readonly<Record<DownloadFormat, { type: string; suffix: string; write: Write }>> = {
  raw: { type: 'application/octet-stream', suffix: 'log', write: writeBytes },
  text: { type: 'text/plain; charset=utf-8', suffix: 'txt', write: writeText },
  cast: { type: 'application/x-asciicast', suffix: 'cast', write: writeCast },
};

async function* writeBytes(pieces: AsyncIterable<Piece>) {
  for await (const { result } of pieces) for (const { data } of result.chunks) yield data;
}

async function* writeText(pieces: AsyncIterable<Piece>, { converter }: DownloadOptions) {
  const convert = converter();
  let cursor = 0;
  for await (const { from, result } of pieces) {
    cursor = from;
    for (const chunk of result.chunks) {
      cursor += chunk.data.length;
      for (const { data } of convert.push(chunk, cursor)) yield data;
    }
  }
  for (const { data } of convert.end(cursor)) yield data;
}

async function* writeCast(pieces: AsyncIterable<Piece>, { id, startedAt }: DownloadOptions) {
  const timestamp = Math.floor(Date.parse(startedAt ?? '') / 1_000) || 0;
  yield toHeaderLine({ cols: 80, rows: 24, timestamp, title: id });
  const decoder = new TextDecoder();
  let before = 0;
  for await (const { from, result } of pieces)
    for (const { data, ms } of cutAtMarks(result, from)) {
      // Players expect CR LF; a terminal's line discipline would have converted LF to it.
      const text = decoder.decode(data, { stream: true }).replace(/\r?\n/g, '\r\n');
      if (text !== '') yield toEventLine({ after: Math.max(0, ms - before) / 1_000, code: 'o', data: text });
      before = Math.max(before, ms);
    }
}
