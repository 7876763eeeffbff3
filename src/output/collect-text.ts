import { binaryNotice, recogniseContent, sampleBytes } from './binary.ts';
import { countLines } from './count-lines.ts';
import { createHeadTail, type TextEnds } from './head-tail.ts';
import { fromLineStart, untilLineEnd } from './resync.ts';
import { createSanitiser, type Sanitiser, sanitise } from './sanitise.ts';

/** The bytes of one stream: all of them in order, or both ends of a stream that is too long to read completely. */
export type StreamBytes =
  | { readonly kind: 'whole'; readonly chunks: readonly Uint8Array[] }
  | {
      readonly kind: 'ends';
      readonly head: Uint8Array;
      readonly tail: Uint8Array;
      readonly totalBytes: number;
    };

/** The kept text of a stream, and its size: `chars`, or `bytes` if only its ends were read. */
export interface CollectedText extends TextEnds {
  readonly total: {
    readonly unit: 'chars' | 'bytes';
    readonly amount: number;
    /** Line breaks; undefined if only the ends were read. */
    readonly lines?: number | undefined;
  };
  /** The `binaryNotice` that replaces binary output. */
  readonly binary?: string;
}

/** Reads a stream and keeps at most `maxChars` characters from both ends of its text. */
export function collectText(stream: StreamBytes, maxChars: number): CollectedText {
  if (stream.kind === 'whole') return collectChunks(stream.chunks, maxChars);
  const overlap = stream.head.length + stream.tail.length - stream.totalBytes;
  if (overlap < 0) return collectEnds(stream.head, stream.tail, stream.totalBytes);
  return collectChunks([stream.head, stream.tail.subarray(overlap)], maxChars);
}

function collectChunks(chunks: readonly Uint8Array[], maxChars: number): CollectedText {
  const plain = toPlainText(chunks, maxChars);
  if (plain !== null)
    return { head: plain, tail: '', joined: true, total: toTotal(plain.length, countLines(plain)) };
  const reader = createReader(maxChars);
  for (const chunk of chunks) reader.push(chunk);
  return reader.end();
}

// Fast path: most commands print nothing or a little printable ASCII, which the sanitiser would return unchanged.
function toPlainText(chunks: readonly Uint8Array[], maxChars: number): string | null {
  const [first, ...more] = chunks;
  if (first === undefined) return '';
  if (more.length > 0 || first.length > Math.min(maxChars, sampleBytes)) return null;
  const text = Buffer.from(first.buffer, first.byteOffset, first.length).toString('latin1');
  return plain.test(text) ? text : null;
}

const plain = /^[\t\n -~]*$/;

function collectEnds(head: Uint8Array, tail: Uint8Array, totalBytes: number): CollectedText {
  const content = recogniseContent(head);
  if (content.kind === 'binary') return toNotice(content.what, totalBytes);
  return {
    head: sanitise(untilLineEnd(head), content),
    tail: sanitise(fromLineStart(tail), content),
    joined: false,
    startsAtLine: true,
    total: { unit: 'bytes', amount: totalBytes },
  };
}

/** Buffers the first `sampleBytes`, then decides by `recogniseContent` whether to sanitise the stream. */
function createReader(maxChars: number) {
  const kept = createHeadTail(maxChars);
  let sample = Buffer.alloc(0);
  let sanitiser: Sanitiser | undefined;
  let binary: string | undefined;
  let totalBytes = 0;

  const decide = (first: Uint8Array) => {
    const content = recogniseContent(first);
    if (content.kind === 'binary') {
      binary = content.what;
      return;
    }
    sanitiser = createSanitiser(content);
    kept.push(sanitiser.push(first));
  };

  return {
    push(chunk: Uint8Array) {
      totalBytes += chunk.length;
      if (sanitiser) kept.push(sanitiser.push(chunk));
      else if (binary === undefined) {
        const first =
          sample.length === 0 && chunk.length >= sampleBytes ? chunk : Buffer.concat([sample, chunk]);
        if (first.length >= sampleBytes) decide(first);
        else sample = Buffer.from(first);
      }
    },
    end(): CollectedText {
      if (!sanitiser && binary === undefined) decide(sample);
      if (binary !== undefined) return toNotice(binary, totalBytes);
      kept.push(sanitiser?.end() ?? '');
      const { head, tail, joined, totalChars, totalLines } = kept.end();
      return { head, tail, joined, total: toTotal(totalChars, totalLines) };
    },
  };
}

function toNotice(what: string, totalBytes: number): CollectedText {
  return { head: '', tail: '', joined: true, total: toTotal(0, 0), binary: binaryNotice(what, totalBytes) };
}

function toTotal(amount: number, lines: number): CollectedText['total'] {
  return { unit: 'chars', amount, lines };
}
