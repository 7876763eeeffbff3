// Validates the answers of a worker, which may be hostile if it is on another machine. Reports about its own jobs are believed, but
// they must be well-formed: the near side uses sizes as loop bounds, and writes states to its audit log.
import type { KeptCommand } from '../../contract/backend.ts';
import { NacreError } from '../../contract/failure.ts';
import type { Cursor, JobState, OutputChunk, OutputMark, ReadResult } from '../../contract/job.ts';
import {
  longestSecret,
  mostBeginnings,
  mostSecrets,
  type SecretDigest,
  type SecretDigests,
  shortestSecret,
} from '../../contract/secret-digests.ts';
import type { FarHello, OutputFrame, ReadAnswer } from '../../contract/wire.ts';
import {
  count,
  type FarShape,
  fields,
  isSize,
  listOf,
  optional,
  ShapeError,
  size,
  text,
  wellFormed,
} from '../../support/shapes.ts';
import { farMachine, jobState, keptReport } from './far-shapes.ts';

const mostEntries = 10_000;

/** Returns `value` in its shape; throws the error for a damaged `part` of the conversation if it has another one. */
export function checkAs<T>(shape: FarShape<T>, value: unknown, part: string): T {
  try {
    return shape(value);
  } catch (error) {
    throw error instanceof ShapeError ? damaged(part) : error;
  }
}

/** Returns `value` as the state of the job `id`; throws if it is malformed. */
export function checkState(value: unknown, id: string): JobState {
  const state = checkAs(jobState, value, `a state of ${id}`);
  if (isStateOf(state, id)) return state;
  throw damaged(`a state of ${id}`);
}

function isStateOf({ id, status, end }: JobState, wanted: string): boolean {
  const isFinal = status !== 'pending' && status !== 'running';
  return id === wanted && isFinal === (end !== null);
}

/** Returns the answer to `hello`; throws if it is malformed. Jobs with a malformed state are dropped, so they become `lost`. */
export function checkHello(value: unknown): FarHello {
  return checkAs(farHello, value, 'its answer to hello');
}

/** A kept command as its worker reports it. */
export type KeptReport = Pick<KeptCommand, 'state' | 'typed' | 'hide'>;

/** Returns the answer to `takeUp` by id. Malformed commands are dropped, so `KnownJobs` marks them as `lost`. */
export function checkKept(value: unknown): ReadonlyMap<string, KeptReport> {
  const reports = checkAs(wellFormed(keptReport), value, 'its answer to takeUp');
  const own = reports.filter(({ id, state }) => isStateOf(state, id));
  return new Map(own.map(({ id, ...report }) => [id, report]));
}

/** Returns `frames`; throws unless their sizes add up to the bytes in `raw`. */
export function checkFrames(frames: unknown, raw: readonly Uint8Array[]): readonly OutputFrame[] {
  if (!Array.isArray(frames)) throw damaged('output');
  let bytes = 0;
  for (const frame of frames as readonly unknown[]) {
    const [stream, count] = Array.isArray(frame) ? (frame as readonly unknown[]) : [];
    if ((stream !== 'stdout' && stream !== 'stderr') || !isSize(count)) throw damaged('output');
    bytes += count;
  }
  if (bytes !== raw.reduce((sum, piece) => sum + piece.length, 0)) throw damaged('output');
  return frames as readonly OutputFrame[];
}

/** Returns the answer to `read`; throws unless it starts at `from`, or at `goneBefore` if older output was removed. */
export function checkRead(
  value: unknown,
  raw: readonly Uint8Array[],
  { from, maxBytes }: { readonly from: Cursor; readonly maxBytes: number },
): ReadResult {
  const answer = toObject(value, 'output') as Partial<ReadAnswer>;
  const { frames: given, next, end, final, goneBefore } = answer;
  const marks = checkMarks(answer.marks);
  const frames = checkFrames(given, raw);
  const all = Buffer.concat(raw);
  // A read of no bytes stays where it is.
  const begin = maxBytes > 0 ? Math.max(from, goneBefore ?? 0) : from;
  const isRight =
    isSize(next) && isSize(end) && typeof final === 'boolean' && next <= end && isSize(goneBefore ?? 0);
  if (all.length > maxBytes || (goneBefore ?? 0) > Number(end)) throw damaged('output');
  // If `next` did not advance, the reader would loop forever.
  if (!isRight || next !== begin + all.length || (maxBytes > 0 && next === from && next < end))
    throw damaged('output');
  let at = 0;
  const chunks = frames.map(([stream, bytes]): OutputChunk => {
    at += bytes;
    return { stream, data: all.subarray(at - bytes, at) };
  });
  return { chunks, next, end, final, marks, ...(goneBefore !== undefined && { goneBefore }) };
}

/** Returns the times of output; throws unless they are in ascending order. */
export function checkMarks(value: unknown): readonly OutputMark[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length > mostEntries) throw damaged('times of output');
  let before = -1;
  for (const mark of value as readonly (Partial<OutputMark> | null)[]) {
    if (!isSize(mark?.cursor) || !isSize(mark.ms) || mark.cursor <= before) throw damaged('times of output');
    before = mark.cursor;
  }
  return value as readonly OutputMark[];
}

// Names of workers are written to the audit log and to terminals, so they must not contain control characters.
const workerName: FarShape<string> = (value) => {
  const name = text(100)(value);
  if (/^[\w.-]+$/.test(name)) return name;
  throw new ShapeError('It is not a name.');
};

const lengthFrom =
  (least: number): FarShape<number> =>
  (value) => {
    const length = count(value);
    if (length >= least && length <= longestSecret) return length;
    throw new ShapeError('It is not the length of a secret.');
  };

const beginning: FarShape<SecretDigest['beginnings'][number]> = (value) => {
  const [bytes, sum] = listOf<unknown>((one) => one, 2)(value);
  return [lengthFrom(1)(bytes), size(sum)];
};

const secretDigests = fields<SecretDigests>({
  key: text(),
  secrets: listOf(
    fields<SecretDigest>({
      bytes: lengthFrom(shortestSecret),
      ...{ first: size, last: size, digest: text() },
      beginnings: listOf(beginning, mostBeginnings),
    }),
    mostSecrets,
  ),
});

const jobs: FarShape<FarHello['jobs']> = (value) =>
  wellFormed(jobState)(value).filter((state) => isStateOf(state, state.id));

const farHello = fields<FarHello>({
  ...{ build: text(), worker: workerName, pid: size, jobs },
  machine: optional(farMachine),
  secrets: optional(secretDigests),
});

/** Returns `value` as an object; throws the error for a damaged `part` if it is none. */
export function toObject(value: unknown, part: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged(part);
  return value as Record<string, unknown>;
}

/** The error for a `part` of the conversation that is malformed. */
export function damaged(part: string): NacreError {
  return new NacreError('resources_unavailable', `The worker sent ${part} in an invalid format.`, {
    hint: 'Use the same version of nacre on both sides. If it is the same, do not trust the machine of this worker.',
  });
}
