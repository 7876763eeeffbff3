import { StringDecoder } from 'node:string_decoder';
import type { Cursor, OutputChunk } from '../../../contract/job.ts';
import type { Engine } from '../../../engine/engine.ts';
import type { StreamConverter } from '../../../engine/reading/stream-text.ts';

/** How output becomes the `data` of messages: sanitised text, text as the program wrote it, or its bytes. */
export type OutputFormat = 'clean' | 'raw' | 'base64';

/** Output already sent, up to the cursor `to`, in which a character or a line may have begun. */
export interface SentOutput {
  readonly chunks: readonly OutputChunk[];
  readonly to: Cursor;
}

/** Creates a converter that continues after `before`. */
export function createDecoder(
  { createStreamConverter }: Pick<Engine, 'createStreamConverter'>,
  format: OutputFormat,
  before: SentOutput,
): StreamConverter {
  const decoder = { clean: createStreamConverter, raw: createRawText, base64: createBase64 }[format]();
  let at = before.chunks.reduce((start, { data }) => start - data.length, before.to);
  for (const chunk of before.chunks) {
    at += chunk.data.length;
    decoder.push(chunk, at);
  }
  decoder.flush(before.to, true);
  return decoder;
}

function createBase64(): StreamConverter {
  return {
    push: ({ stream, data }, cursor) => [{ stream, data: Buffer.from(data).toString('base64'), cursor }],
    isHolding: () => false,
    flush: () => [],
    end: () => [],
  };
}

function createRawText(): StreamConverter {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  const streams = ['stdout', 'stderr'] as const;
  return {
    push: ({ stream, data }, cursor) => [{ stream, data: decoders[stream].write(Buffer.from(data)), cursor }],
    isHolding: () => false,
    flush: () => [],
    end: (cursor) => streams.map((stream) => ({ stream, data: decoders[stream].end(), cursor })),
  };
}
