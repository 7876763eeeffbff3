// Messages of the loader and its scripts: lines with a random tag and JSON. Banners of login shells may precede them.
import type { Duplex } from 'node:stream';
import { always, type FarShape, fields, oneOf, optional, ShapeError, text } from '../../support/shapes.ts';

/** A message of the loader. */
export interface FarMessage {
  readonly need?: 'files' | 'node' | 'data' | undefined;
  readonly os?: string | undefined;
  readonly arch?: string | undefined;
  readonly libc?: string | undefined;
  readonly error?: string | undefined;
  readonly message?: string | undefined;
  readonly path?: string | undefined;
  readonly done?: true | undefined;
  readonly ready?: { readonly platform: string; readonly arch: string; readonly node: string } | undefined;
}

/** The stream ended, exceeded the size limit or timed out before a message arrived. */
export class NoMessageError extends Error {
  /** The beginning of the data that it sent instead. */
  readonly sent: string;

  constructor(reason: string, sent: Buffer) {
    super(reason);
    this.sent = toShown(sent);
  }
}

const maxNoiseBytes = 65_536;

/** Waits for the next message and skips bytes before it; later bytes stay in the stream. */
export function readMessage(stream: Duplex, tag: string, withinMs: number): Promise<FarMessage> {
  return new Promise((resolve, reject) => {
    let found = Buffer.alloc(0);
    // `readable` instead of `data` and `pause`, which would leave the stream paused for its next reader.
    const onReadable = () => {
      const piece = stream.read() as Buffer | null;
      if (piece === null) return;
      found = Buffer.concat([found, piece]);
      const line = cutMessage(found, tag);
      if (line === undefined && found.length <= maxNoiseBytes) return;
      settle();
      if (line === undefined)
        return reject(new NoMessageError('it sent 64 KiB of other output instead of a message', found));
      if (line.rest.length > 0) stream.unshift(line.rest);
      const message = parseMessage(line.text);
      if (message) resolve(message);
      else reject(new NoMessageError('it sent a damaged message', found));
    };
    const onEnd = () => {
      settle();
      reject(new NoMessageError('it ended', found));
    };
    const timer = setTimeout(() => {
      settle();
      reject(new NoMessageError(`it did not answer within ${withinMs / 1_000} s`, found));
    }, withinMs);
    const settle = () => {
      clearTimeout(timer);
      stream.off('readable', onReadable).off('end', onEnd).off('close', onEnd).off('error', onEnd);
    };
    stream.on('readable', onReadable).on('end', onEnd).on('close', onEnd).on('error', onEnd);
  });
}

function cutMessage(
  found: Buffer,
  tag: string,
): { readonly text: string; readonly rest: Buffer } | undefined {
  const at = found.indexOf(`\n${tag} `);
  if (at < 0) return undefined;
  const begin = at + tag.length + 2;
  const end = found.indexOf('\n', begin);
  return end < 0 ? undefined : { text: found.toString('utf8', begin, end), rest: found.subarray(end + 1) };
}

const word = optional(text(4_096));

const farMessage: FarShape<FarMessage> = fields<FarMessage>({
  need: optional(oneOf(['files', 'node', 'data'] as const)),
  ...{ os: word, arch: word, libc: word, error: word, message: word, path: word },
  done: optional(always),
  ready: optional(fields({ platform: text(100), arch: text(100), node: text(100) })),
});

function parseMessage(line: string): FarMessage | undefined {
  try {
    return farMessage(JSON.parse(line));
  } catch (error) {
    if (error instanceof ShapeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** The beginning of unexpected output, without control characters. */
export function toShown(output: Buffer | string): string {
  return output
    .toString('latin1')
    .slice(0, 300)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
}
