// The whole output of a command as a file: its bytes, its text without escape sequences, or an asciicast recording.
import { Readable } from 'node:stream';
import type { OutputMark, ReadResult } from '../../../contract/job.ts';
import type { StreamConverter } from '../../../engine/reading/stream-text.ts';
import { toEventLine, toHeaderLine } from '../../../recordings/asciicast.ts';
import { HttpProblem } from '../requests/problem.ts';
import type { Reply } from '../requests/raw-http.ts';
import type { OpenOutput } from './command-output.ts';

const pieceBytes = 1_048_576;

/** The format of a downloaded file. */
export type DownloadForm = 'raw' | 'text' | 'cast';

/** Parses the query parameter `download`; an empty value means `raw`. */
export function toDownloadForm(value: string): DownloadForm {
  if (value === '' || value === 'raw') return 'raw';
  if (value === 'text' || value === 'cast') return value;
  throw new HttpProblem(400, 'download must be raw, text or cast.');
}

/** Options of `download`. */
export interface DownloadOptions {
  readonly id: string;
  readonly form: DownloadForm;
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
        const found = await read(at, { waitMs: 0, maxBytes: Math.min(pieceBytes, end - at) });
        if (found.next === at) break;
        yield { at, found };
        at = found.next;
      }
    } finally {
      close();
    }
  };
  const { id, form } = options;
  const { type, suffix, write } = forms[form];
  const headers = {
    'Content-Type': type,
    'Content-Disposition': `attachment; filename="${id}.${suffix}"`,
  };
  const open = () => Readable.from(write(pieces(), options));
  const length = form === 'raw' ? end - goneBefore : undefined;
  return { status: 200, headers, body: { length, open, discard: async () => close() } };
}

interface Piece {
  readonly at: number;
  readonly found: ReadResult;
}
type Write = (pieces: AsyncIterable<Piece>, options: DownloadOptions) => AsyncIterable<Uint8Array | string>;

const forms: Readonly<Record<DownloadForm, { type: string; suffix: string; write: Write }>> = {
  raw: { type: 'application/octet-stream', suffix: 'log', write: writeBytes },
  text: { type: 'text/plain; charset=utf-8', suffix: 'txt', write: writeText },
  cast: { type: 'application/x-asciicast', suffix: 'cast', write: writeCast },
};

async function* writeBytes(pieces: AsyncIterable<Piece>) {
  for await (const { found } of pieces) for (const { data } of found.chunks) yield data;
}

async function* writeText(pieces: AsyncIterable<Piece>, { converter }: DownloadOptions) {
  const convert = converter();
  let cursor = 0;
  for await (const { at, found } of pieces) {
    cursor = at;
    for (const chunk of found.chunks) {
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
  for await (const { at, found } of pieces)
    for (const { data, ms } of cutAtMarks(found, at)) {
      // Players expect CR LF; a terminal's line discipline would have converted LF to it.
      const text = decoder.decode(data, { stream: true }).replace(/\r?\n/g, '\r\n');
      if (text !== '') yield toEventLine({ after: Math.max(0, ms - before) / 1_000, code: 'o', data: text });
      before = Math.max(before, ms);
    }
}

/** Cuts the chunks where a mark begins, so that each piece has one time. */
export function* cutAtMarks(
  { chunks, marks = [] }: Pick<ReadResult, 'chunks' | 'marks'>,
  from: number,
): Iterable<{ readonly stream: 'stdout' | 'stderr'; readonly data: Uint8Array; readonly ms: number }> {
  let cursor = from;
  for (const { stream, data } of chunks) {
    const cuts = marks.map((mark) => mark.cursor - cursor).filter((at) => at > 0 && at < data.length);
    for (const [index, begin] of [0, ...cuts].entries()) {
      const piece = data.subarray(begin, cuts[index] ?? data.length);
      yield { stream, data: piece, ms: msAt(marks, cursor + begin) };
    }
    cursor += data.length;
  }
}

function msAt(marks: readonly OutputMark[], cursor: number): number {
  return marks.findLast((mark) => mark.cursor <= cursor)?.ms ?? marks[0]?.ms ?? 0;
}
