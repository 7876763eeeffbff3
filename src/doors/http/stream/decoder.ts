import { StringDecoder } from 'node:string_decoder';
import type { OutputChunk, Stream } from '../../../contract/job.ts';

/** Converts output bytes into the `data` of messages. */
export interface Decoder {
  decode(chunk: OutputChunk): string;
  /** Incomplete characters at the end of each stream. */
  end(): readonly { readonly stream: Stream; readonly data: string }[];
}

const streams = ['stdout', 'stderr'] as const;

/** Creates a decoder; `before` is output already sent, in which a character may have begun. */
export function createDecoder(encoding: 'utf8' | 'base64', before: readonly OutputChunk[] = []): Decoder {
  if (encoding === 'base64') {
    return { decode: ({ data }) => Buffer.from(data).toString('base64'), end: () => [] };
  }
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  for (const { stream, data } of before) decoders[stream].write(Buffer.from(data));
  return {
    decode: ({ stream, data }) => decoders[stream].write(Buffer.from(data)),
    end: () =>
      streams.map((stream) => ({ stream, data: decoders[stream].end() })).filter(({ data }) => data !== ''),
  };
}
