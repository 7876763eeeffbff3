import type { Finished } from '../../audit/entry.ts';
import type { Backend } from '../../contract/backend.ts';
import { toNacreError } from '../../contract/failure.ts';
import type { Cursor, JobState, Stream } from '../../contract/job.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { StreamBytes } from '../../output/collect-text.ts';
import { shapeOutput } from '../../output/shape.ts';
import type { RunContext } from '../run.ts';

/** How an outcome is to be shaped. */
export interface ShapeOptions {
  readonly cwd: string;
  readonly maxChars: number;
  readonly howToGetRest: RunContext['howToGetRest'];
  readonly cutAtLines?: boolean | undefined;
}

// Up to this size the whole output is turned into text, and what is left out is counted to the character.
const wholeBytes = 8_388_608;
// Of anything larger only both ends are read,
const windowBytes = 1_048_576;
// unless they hold less than this of a stream: an error message in the middle of much output is worth the search.
const enoughBytes = 65_536;

/** Reads a finished job's output and turns it into text of bounded size. */
export async function shapeOutcome(
  backend: Backend,
  state: JobState,
  options: ShapeOptions,
): Promise<Outcome> {
  const warnings: string[] = [];
  const streams = await readStreams(backend, state).catch((error: Error) => {
    warnings.push(`The output could not be read back: ${error.message}`);
    return nothing;
  });
  const { stdout, stderr, truncated } = shapeOutput(streams, {
    maxChars: options.maxChars,
    how: typeof options.howToGetRest === 'string' ? options.howToGetRest : options.howToGetRest(state.id),
    cutAtLines: options.cutAtLines,
  });
  return { ...toFinished(state, options.cwd), stdout, stderr, truncated: truncated !== null, warnings };
}

/** What became of a job, without its output. */
export function toFinished(state: JobState, cwd: string): Finished {
  const { id, status, durationMs, stdoutBytes, stderrBytes, digests, withheldEnv } = state;
  const { enforcement, resources, end } = state;
  if (!end || status === 'pending' || status === 'running') {
    throw toNacreError(new Error(`${id} has not ended`));
  }
  const sizes = { durationMs, stdoutBytes, stderrBytes, digests };
  return { id, status, ...sizes, withheldEnv, enforcement, resources, cwd, ...end };
}

const nothing: Record<Stream, StreamBytes> = {
  stdout: { kind: 'whole', chunks: [] },
  stderr: { kind: 'whole', chunks: [] },
};

async function readStreams(backend: Backend, state: JobState): Promise<Record<Stream, StreamBytes>> {
  const size = state.stdoutBytes + state.stderrBytes;
  if (size <= wholeBytes) {
    const { stdout, stderr } = await readRange(backend, state.id, 0, size);
    return { stdout: { kind: 'whole', chunks: stdout }, stderr: { kind: 'whole', chunks: stderr } };
  }
  const head = await readRange(backend, state.id, 0, windowBytes);
  const tail = await readRange(backend, state.id, size - windowBytes, size);
  const ends = async (stream: Stream, totalBytes: number) => {
    const found = { head: Buffer.concat(head[stream]), tail: Buffer.concat(tail[stream]) };
    const isEnough = found.head.length + found.tail.length >= Math.min(totalBytes, enoughBytes);
    return toStreamBytes(
      isEnough ? found : await searchEnds(backend, state.id, stream, totalBytes),
      totalBytes,
    );
  };
  return {
    stdout: await ends('stdout', state.stdoutBytes),
    stderr: await ends('stderr', state.stderrBytes),
  };
}

// A stream that wrote little may be whole although the other one filled the log.
function toStreamBytes({ head, tail }: { head: Buffer; tail: Buffer }, totalBytes: number): StreamBytes {
  if (head.length + tail.length === totalBytes) return { kind: 'whole', chunks: [head, tail] };
  return { kind: 'ends', head, tail, totalBytes };
}

/** Goes through the whole log for the first and last bytes of one stream. */
async function searchEnds(backend: Backend, id: string, stream: Stream, totalBytes: number) {
  const head: Uint8Array[] = [];
  const tail: Uint8Array[] = [];
  const tailStart = Math.max(windowBytes, totalBytes - windowBytes);
  for (let at = 0, seen = 0; seen < totalBytes; ) {
    const { chunks, next } = await backend.read(id, at, { waitMs: 0, maxBytes: windowBytes });
    for (const { data } of chunks.filter((chunk) => chunk.stream === stream)) {
      if (seen < windowBytes) head.push(data.subarray(0, windowBytes - seen));
      if (seen + data.length > tailStart) tail.push(data.subarray(Math.max(0, tailStart - seen)));
      seen += data.length;
    }
    if (next === at) break;
    at = next;
  }
  return { head: Buffer.concat(head), tail: Buffer.concat(tail) };
}

async function readRange(
  backend: Backend,
  id: string,
  from: Cursor,
  to: Cursor,
): Promise<Record<Stream, Uint8Array[]>> {
  const found: Record<Stream, Uint8Array[]> = { stdout: [], stderr: [] };
  for (let at = from; at < to; ) {
    const { chunks, next } = await backend.read(id, at, { waitMs: 0, maxBytes: to - at });
    for (const { stream, data } of chunks) found[stream].push(data);
    if (next === at) break;
    at = next;
  }
  return found;
}
