import type { Finished } from '../../audit/entry.ts';
import type { Backend } from '../../contract/backend.ts';
import { showCommand } from '../../contract/command.ts';
import { toNacreError } from '../../contract/failure.ts';
import type { JobState, OutputChunk, Stream } from '../../contract/job.ts';
import type { LeftOut, Outcome } from '../../contract/outcome.ts';
import type { CommandRequest } from '../../contract/request.ts';
import type { StreamBytes } from '../../output/collect-text.ts';
import { shapeOutput, type Truncation } from '../../output/shape.ts';
import { logOf, type ReadLog, readRange, tail } from '../../support/tail.ts';
import type { RunContext } from '../context/call-context.ts';
import type { Admission } from './admit.ts';

/** Options of `shapeOutcome`. */
export interface ShapeOptions
  extends Pick<CommandRequest, 'maxOutputChars' | 'maxOutputLines' | 'cutAtLines'>,
    Pick<RunContext, 'howToGetRest' | 'fits'> {
  readonly cwd: string;
}

// Up to this size the whole output is decoded, and the number of omitted characters is exact.
const wholeBytes = 8_388_608;
// Only this much is read at both ends of a larger output.
const windowBytes = 1_048_576;
// If both ends have less than this of a stream, the whole log is searched for it: it may be an error message in the middle.
const enoughBytes = 65_536;

/** Reads the output of an ended job and turns it into text of bounded size. */
export async function shapeOutcome(
  backend: Pick<Backend, 'read'>,
  state: JobState,
  { cwd, maxOutputChars, maxOutputLines, cutAtLines, howToGetRest, fits }: ShapeOptions,
): Promise<Outcome> {
  const warnings = [...changesNotes(state)];
  const streams = await readStreams(logOf(backend, state.id), state).catch((error: Error) => {
    warnings.push(`The output could not be read back: ${error.message}`);
    return nothing;
  });
  const how = typeof howToGetRest === 'string' ? howToGetRest : howToGetRest(state.id);
  const limits = { maxChars: maxOutputChars, maxLines: maxOutputLines, cutAtLines, fits };
  const { stdout, stderr, truncated } = shapeOutput(streams, { ...limits, how });
  const leftOut = truncated ? toLeftOut(truncated) : undefined;
  return { ...toFinished(state, cwd), stdout, stderr, truncated: truncated !== null, leftOut, warnings };
}

function toLeftOut({ omittedLines, omittedChars, omittedBytes }: Truncation): LeftOut {
  return { lines: omittedLines, chars: omittedChars, bytes: omittedBytes };
}

/** Sentences about changes of a command that were not tracked or applied as asked. */
export function changesNotes({ changesNote, end }: JobState): readonly string[] {
  return [changesNote, end?.changesNote].filter((note) => note !== undefined);
}

/** The outcome of an ended job, without its output. */
export function toFinished(state: JobState, cwd: string): Finished {
  const { id, status, durationMs, stdoutBytes, stderrBytes, digests, withheldEnv } = state;
  const { enforcement, resources, end } = state;
  if (!end || status === 'pending' || status === 'running' || status === 'unreachable') {
    throw toNacreError(new Error(`${id} has not ended`));
  }
  const sizes = { durationMs, stdoutBytes, stderrBytes, digests };
  return { id, status, ...sizes, withheldEnv, enforcement, resources, cwd, ...end };
}

/** The outcome of a dry run: the command may run, but was not started. */
export function dryOutcome(id: string, { command, cwd }: Pick<Admission, 'command' | 'cwd'>): Outcome {
  const stdout = `[Dry Run] Would execute: ${showCommand(command)}\n`;
  const end = { status: 'completed', cause: 'exit', exitCode: 0, signal: null, detail: null } as const;
  const output = { stdout, stderr: '', stdoutBytes: 0, stderrBytes: 0, truncated: false };
  const processes = { leftRunning: [], kept: [], survivors: [], deniedHosts: [], withheldEnv: [] };
  const machine = { enforcement: null, resources: null };
  return { id, cwd, durationMs: 0, warnings: [], ...end, ...output, ...processes, ...machine };
}

const nothing: Record<Stream, StreamBytes> = {
  stdout: { kind: 'whole', chunks: [] },
  stderr: { kind: 'whole', chunks: [] },
};

async function readStreams(
  read: ReadLog,
  { stdoutBytes, stderrBytes }: JobState,
): Promise<Record<Stream, StreamBytes>> {
  const size = stdoutBytes + stderrBytes;
  if (size <= wholeBytes) {
    const chunks = await readRange(read, 0, size);
    return {
      stdout: { kind: 'whole', chunks: bytesOf(chunks, 'stdout') },
      stderr: { kind: 'whole', chunks: bytesOf(chunks, 'stderr') },
    };
  }
  const first = await readRange(read, 0, windowBytes);
  const last = await readRange(read, size - windowBytes, size);
  const ends = async (stream: Stream, totalBytes: number): Promise<StreamBytes> => {
    const head = Buffer.concat(bytesOf(first, stream));
    const tail = Buffer.concat(bytesOf(last, stream));
    const isEnough = head.length + tail.length >= Math.min(totalBytes, enoughBytes);
    const found = isEnough ? { head, tail } : await searchEnds(read, stream, totalBytes);
    return toStreamBytes(found, totalBytes);
  };
  return { stdout: await ends('stdout', stdoutBytes), stderr: await ends('stderr', stderrBytes) };
}

function bytesOf(chunks: readonly OutputChunk[], stream: Stream): Uint8Array[] {
  return chunks.filter((chunk) => chunk.stream === stream).map(({ data }) => data);
}

// One stream may be complete although the other one filled the log.
function toStreamBytes({ head, tail }: { head: Buffer; tail: Buffer }, totalBytes: number): StreamBytes {
  if (head.length + tail.length === totalBytes) return { kind: 'whole', chunks: [head, tail] };
  return { kind: 'ends', head, tail, totalBytes };
}

/** Searches the whole log for the first and last `windowBytes` of one stream. */
async function searchEnds(read: ReadLog, stream: Stream, totalBytes: number) {
  const head: Uint8Array[] = [];
  const last: Uint8Array[] = [];
  const lastStart = Math.max(windowBytes, totalBytes - windowBytes);
  let seen = 0;
  for await (const { chunks } of tail(read, 0, { waitMs: 0, maxBytes: windowBytes })) {
    for (const data of bytesOf(chunks, stream)) {
      if (seen < windowBytes) head.push(data.subarray(0, windowBytes - seen));
      if (seen + data.length > lastStart) last.push(data.subarray(Math.max(0, lastStart - seen)));
      seen += data.length;
    }
    if (seen >= totalBytes) break;
  }
  return { head: Buffer.concat(head), tail: Buffer.concat(last) };
}
