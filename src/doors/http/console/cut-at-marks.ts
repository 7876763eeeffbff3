import type { OutputMark, ReadResult } from '../../../contract/job.ts';

/** Splits chunks where a mark begins, so that each piece has a single time. */
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
