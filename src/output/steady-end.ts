import type { Cursor, OutputChunk, Stream } from '../contract/job.ts';
import { unfinishedTail } from './unfinished.ts';

const lineFeed = 0x0a;

/** How many of the last bytes are looked at. */
export const heldBytes = 8_192;

/**
 * How far output that is still growing can be read without tearing a character, a terminal sequence or, where lines are
 * wanted whole, a line: the position before the first thing that is not finished. A line that is longer than what is
 * looked at is not waited for.
 */
export function steadyEnd(lastBytes: readonly OutputChunk[], end: Cursor, wholeLines: boolean): Cursor {
  const size = lastBytes.reduce((sum, { data }) => sum + data.length, 0);
  const streams = ['stdout', 'stderr'] as const;
  return Math.min(end, ...streams.map((stream) => end - size + steadyIn(lastBytes, stream, wholeLines)));
}

/** The offset, in all the bytes, at which one stream's unfinished end begins; all of them when there is none. */
function steadyIn(chunks: readonly OutputChunk[], stream: Stream, wholeLines: boolean): number {
  const own = Buffer.concat(chunks.filter((chunk) => chunk.stream === stream).map(({ data }) => data));
  const lineStart = own.lastIndexOf(lineFeed) + 1;
  const waits = wholeLines && (lineStart > 0 || own.length < heldBytes);
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
