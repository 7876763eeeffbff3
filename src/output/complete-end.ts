import type { Cursor, OutputChunk, Stream } from '../contract/job.ts';
import { unfinishedTail } from './unfinished.ts';

const lineFeed = 0x0a;

/** The number of bytes at the end of the log that `findCompleteEnd` needs. */
export const inspectedBytes = 8_192;

/**
 * The position up to which growing output can be read without splitting a character, a terminal sequence or, with
 * `wholeLines`, a line. A line longer than `inspectedBytes` is split, so that it does not delay output forever.
 */
export function findCompleteEnd(lastBytes: readonly OutputChunk[], end: Cursor, wholeLines: boolean): Cursor {
  const size = lastBytes.reduce((sum, { data }) => sum + data.length, 0);
  const streams = ['stdout', 'stderr'] as const;
  return Math.min(end, ...streams.map((stream) => end - size + steadyIn(lastBytes, stream, wholeLines)));
}

/** The offset in all chunks at which the unfinished end of one stream begins; the total size if there is none. */
function steadyIn(chunks: readonly OutputChunk[], stream: Stream, wholeLines: boolean): number {
  const own = Buffer.concat(chunks.filter((chunk) => chunk.stream === stream).map(({ data }) => data));
  const lineStart = own.lastIndexOf(lineFeed) + 1;
  const waits = wholeLines && (lineStart > 0 || own.length < inspectedBytes);
  let keep = Math.min(own.length - unfinishedTail(own), waits ? lineStart : own.length);
  let offset = 0;
  for (const chunk of chunks) {
    if (chunk.stream === stream) {
      if (keep < chunk.data.length) return offset + keep;
      keep -= chunk.data.length;
    }
    offset += chunk.data.length;
  }
  return offset;
}
