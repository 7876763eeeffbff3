// Validates the answers of a worker, which may be hostile if it is on another machine. Reports about its own jobs are believed, but
// they must be well-formed: the near side uses sizes as loop bounds, and writes states to its audit log.
import type { KeptCommand } from '../../contract/backend.ts';
import { type Change, type ChangesEntry, type ChangesState, changeKinds } from '../../contract/changes.ts';
import { NacreError } from '../../contract/failure.ts';
import type {
  Cursor,
  JobObservation,
  JobState,
  JobStatus,
  OutputChunk,
  OutputMark,
  ProcessRef,
  ReadResult,
} from '../../contract/job.ts';
import {
  longestSecret,
  mostBeginnings,
  mostSecrets,
  type SecretDigests,
  shortestSecret,
} from '../../contract/secret-digests.ts';
import type { FarHello, OutputFrame, ReadAnswer } from '../../contract/wire.ts';

const statuses: ReadonlySet<unknown> = new Set<JobStatus>([
  ...(['pending', 'running', 'completed', 'failed', 'timeout', 'killed', 'lost'] as const),
]);
const finalStatuses: ReadonlySet<unknown> = new Set<JobStatus>([
  ...(['completed', 'failed', 'timeout', 'killed', 'lost'] as const),
]);
const changesStates: ReadonlySet<unknown> = new Set<ChangesState>(['applied', 'held', 'partial']);
const kindsOfChanges: ReadonlySet<unknown> = new Set(changeKinds);
const mostEntries = 10_000;
const longestText = 65_536;

/** Returns `value` as the state of the job `id`; throws if it is malformed. */
export function checkState(value: unknown, id: string): JobState {
  const state = toObject(value, 'a state');
  const { status, end, enforcement, resources } = state;
  const isRight =
    state.id === id &&
    statuses.has(status) &&
    isTextOf(state.startedAt) &&
    [state.durationMs, state.stdoutBytes, state.stderrBytes].every(isSize) &&
    (state.pid === null || isSize(state.pid)) &&
    isTextList(state.withheldEnv) &&
    isObjectOrNull(enforcement) &&
    isObjectOrNull(resources) &&
    (end === null ? !finalStatuses.has(status) : finalStatuses.has(status) && isEnd(end));
  if (!isRight) throw damaged(`a state of ${id}`);
  if (enforcement !== null && !isTextList((enforcement as Record<string, unknown>).gaps))
    throw damaged(`the enforcement of ${id}`);
  return value as JobState;
}

/** Returns the answer to `hello`; throws if it is malformed. Jobs with a malformed state are dropped, so they become `lost`. */
export function checkHello(value: unknown): FarHello {
  const { build, worker, pid, jobs, machine, secrets } = toObject(value, 'its answer to hello');
  const isRight = isTextOf(build) && isName(worker) && isSize(pid) && Array.isArray(jobs);
  if (!isRight || (machine !== undefined && machine !== null && !isMachine(machine)))
    throw damaged('its answer to hello');
  if (secrets !== undefined && !areDigests(secrets)) throw damaged('the digests of its secrets');
  const known = jobs.flatMap((state) => {
    try {
      return [checkState(state, String((state as { readonly id?: unknown } | null)?.id))];
    } catch {
      return [];
    }
  });
  return { ...(value as FarHello), jobs: known };
}

/** A kept command as its worker reports it. */
export type KeptReport = Pick<KeptCommand, 'state' | 'typed' | 'hide'>;

/** Returns the answer to `takeUp` by id. Malformed commands are dropped, so `KnownJobs` marks them as `lost`. */
export function checkKept(value: unknown): ReadonlyMap<string, KeptReport> {
  if (!Array.isArray(value)) throw damaged('its answer to takeUp');
  const reports = value.slice(0, mostEntries).flatMap((one): readonly [string, KeptReport][] => {
    try {
      const { id, state, typed, hide } = toObject(one, 'a kept command');
      const isValid = isTextOf(id) && (typed == null || typeof typed === 'string') && isTextList(hide);
      const report = { state: checkState(state, String(id)), typed: typed ?? undefined, hide };
      return isValid ? [[id, report as KeptReport]] : [];
    } catch {
      return [];
    }
  });
  return new Map(reports);
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
    isSize(next) && isSize(end) && typeof final === 'boolean' && next <= end && (goneBefore ?? 0) <= end;
  // An answer without progress would make the reader loop forever.
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

/** Returns the answer to `listChanges` without malformed entries. */
export function checkEntries(value: unknown): readonly ChangesEntry[] {
  if (!Array.isArray(value)) throw damaged('its kept changes');
  return value.slice(0, mostEntries).filter((entry: unknown): entry is ChangesEntry => {
    if (typeof entry !== 'object' || entry === null) return false;
    const { id, state, command, folders, endedAt, onTopOf, bytes, counts } = entry as Record<string, unknown>;
    return (
      [id, command, endedAt].every(isTextOf) &&
      changesStates.has(state) &&
      [folders, onTopOf].every(isTextList) &&
      isSize(bytes) &&
      typeof counts === 'object' &&
      hasCounts({ ...counts })
    );
  });
}

/** Returns the answer to `observe`; throws if it is malformed. */
export function checkObservation(value: unknown): JobObservation {
  const { awaitingInput, listening } = toObject(value, 'an observation');
  if (typeof awaitingInput !== 'boolean' || !Array.isArray(listening) || listening.length > mostEntries)
    throw damaged('an observation');
  return { awaitingInput, listening: listening.filter((port) => Number.isInteger(port)) };
}

/** True for a number of bytes, milliseconds or processes. */
export function isSize(value: unknown): value is number {
  return (
    typeof value === 'number' && Number.isFinite(value) && value >= 0 && value <= Number.MAX_SAFE_INTEGER
  );
}

function isEnd(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const end = value as Record<string, unknown>;
  return (
    isTextOf(end.cause) &&
    (end.exitCode === null || (Number.isInteger(end.exitCode) && isSize(end.exitCode))) &&
    (end.signal === null || isTextOf(end.signal)) &&
    (end.detail === null || isTextOf(end.detail)) &&
    [end.leftRunning, end.kept, end.survivors].every(isProcessList) &&
    isTextList(end.deniedHosts) &&
    (end.deniedPrograms === undefined || isTextList(end.deniedPrograms)) &&
    (end.changes === undefined || isCommandChanges(end.changes))
  );
}

function isCommandChanges(value: unknown): boolean {
  const { id, state, bytes, changes, conflicts, ...counts } = toObject(value, 'changes');
  return (
    isTextOf(id) &&
    changesStates.has(state) &&
    isSize(bytes) &&
    hasCounts(counts) &&
    isTextList(conflicts) &&
    Array.isArray(changes) &&
    changes.length <= mostEntries &&
    changes.every((one: Partial<Change> | null) => kindsOfChanges.has(one?.kind) && isTextOf(one?.path))
  );
}

function hasCounts(counts: Readonly<Record<string, unknown>>): boolean {
  return changeKinds.every((kind) => isSize(counts[kind]));
}

function isProcessList(value: unknown): value is readonly ProcessRef[] {
  if (!Array.isArray(value) || value.length > mostEntries) return false;
  return value.every((one: Partial<ProcessRef> | null) => isSize(one?.pid) && isTextOf(one?.command));
}

function isMachine(value: unknown): boolean {
  const { platform, home, cwd } = toObject(value, 'its answer to hello');
  return [platform, home, cwd].every(isTextOf);
}

function areDigests(value: unknown): value is SecretDigests {
  const { key, secrets } = toObject(value, 'the digests of its secrets');
  return isTextOf(key) && Array.isArray(secrets) && secrets.length <= mostSecrets && secrets.every(isDigest);
}

function isDigest(value: unknown): boolean {
  const { bytes, first, last, digest, beginnings } = toObject(value, 'the digest of a secret');
  const isLength = (length: unknown, least: number) =>
    Number.isInteger(length) && Number(length) >= least && Number(length) <= longestSecret;
  return (
    isLength(bytes, shortestSecret) &&
    [first, last].every(isSize) &&
    isTextOf(digest) &&
    Array.isArray(beginnings) &&
    beginnings.length <= mostBeginnings &&
    beginnings.every((one: unknown) => Array.isArray(one) && isLength(one[0], 1) && isSize(one[1]))
  );
}

function isTextOf(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestText;
}

// Names of workers are written to the audit log and to terminals, so they must not contain control characters.
function isName(value: unknown): boolean {
  return typeof value === 'string' && /^[\w.-]{1,100}$/.test(value);
}

function isTextList(value: unknown): boolean {
  return Array.isArray(value) && value.length <= mostEntries && value.every(isTextOf);
}

function isObjectOrNull(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value);
}

function toObject(value: unknown, part: string): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw damaged(part);
  return value as Record<string, unknown>;
}

function damaged(part: string): NacreError {
  return new NacreError('resources_unavailable', `The worker sent ${part} in an invalid format.`, {
    hint: 'Use the same version of nacre on both sides. If it is the same, do not trust the machine of this worker.',
  });
}
