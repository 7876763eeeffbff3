import { jobNotFound } from '../../contract/failure.ts';
import type { Cursor, JobState, OutputChunk, OutputMark, ReadResult, Stream } from '../../contract/job.ts';
import { firstCredit, type OutputFrame } from '../../contract/wire.ts';
import { MarkList } from '../../support/mark-list.ts';
import { isSize } from '../../support/shapes.ts';
import { createNotifier, createStopwatch } from '../../support/timing.ts';

/** Bytes of output that a mirror keeps in memory; older output is read from the worker. */
const windowBytes = 4 * 1_048_576;
// Bytes of output that stay in memory once the command has ended.
const endedBytes = 65_536;
// How long a read waits for the far side to push output before it calls `readFar`.
const pushMs = 1_000;
// Limits the overhead of output that alternates between stdout and stderr in tiny pieces.
const maxPieces = 65_536;
// Removing pieces from the front of a long array is slow, so `#trim` removes half of them at once.
const trimmedPieces = maxPieces / 2;
// Neighbouring pieces up to this size are joined.
const joinedBytes = 4_096;

interface Piece {
  readonly start: Cursor;
  readonly stream: Stream;
  readonly data: Buffer;
}

/** Reads output that a mirror does not have. */
export type ReadFar = (from: Cursor, maxBytes: number) => Promise<ReadResult>;

/** The near side's copy of a job: its state, and the newest part of its output. It answers reads without a round trip. */
export class Mirror {
  readonly id: string;
  readonly #changed = createNotifier();
  #pieces: Piece[] = [];
  readonly #marks = new MarkList();
  #start: Cursor;
  #end: Cursor;
  #state: JobState | null = null;
  #age = createStopwatch();
  #grown = { stdoutBytes: 0, stderrBytes: 0 };
  #unreachableSince: string | undefined;
  /** The cursor up to which the far side may push. */
  credit: Cursor;
  /** Whether a process of the job waits for input, as last reported. */
  awaiting = false;

  constructor(id: string, from: Cursor = 0) {
    this.id = id;
    this.#start = from;
    this.#end = from;
    this.credit = from + firstCredit;
  }

  /** Returns the cursor from which the far side pushes over a new stream, and resets `credit`, which is not carried over. */
  resume(): Cursor {
    this.credit = this.#end + firstCredit;
    return this.#end;
  }

  /** The cursor after the last byte that was pushed. */
  get end(): Cursor {
    return this.#end;
  }

  /** True once the far side has reported a state. */
  get hasStarted(): boolean {
    return this.#state !== null;
  }

  get hasEnded(): boolean {
    return this.#state?.end != null;
  }

  get isUnreachable(): boolean {
    return this.#unreachableSince !== undefined && !this.hasEnded;
  }

  /** Milliseconds since the last report of the state. */
  get ageMs(): number {
    return this.#age();
  }

  add(
    cursor: Cursor,
    frames: readonly OutputFrame[],
    raw: readonly Buffer[],
    marks: readonly OutputMark[] = [],
  ): void {
    if (!isSize(cursor)) throw new Error('The worker sent output without a cursor.');
    // The cursor jumps after a reconnection, or if output was removed: start a new window there.
    if (cursor !== this.#end) this.#reset(cursor);
    const rest = [...raw];
    for (const [stream, bytes] of frames) for (const data of take(rest, bytes)) this.#append(stream, data);
    for (const mark of marks) if (mark.cursor > (this.#marks.last?.cursor ?? -1)) this.#marks.push(mark);
    this.#trim(windowBytes);
    this.#changed.notifyAll();
  }

  grow(grown: { readonly stdoutBytes: number; readonly stderrBytes: number }): void {
    if (!isSize(grown.stdoutBytes) || !isSize(grown.stderrBytes)) return;
    this.#grown = grown;
    this.#changed.notifyAll();
  }

  set(state: JobState): void {
    if (this.hasEnded && !state.end) return;
    this.#state = state;
    this.#age = createStopwatch();
    this.#grown = state;
    this.#unreachableSince = undefined;
    if (state.end) this.#trim(windowBytes);
    this.#changed.notifyAll();
  }

  /** Records when the worker became unreachable; undefined when it can be reached again. */
  setUnreachable(since: string | undefined): void {
    this.#unreachableSince = since;
    this.#changed.notifyAll();
  }

  state(): JobState {
    const state = this.#state;
    if (!state) throw jobNotFound(this.id);
    if (state.end) return state;
    const { stdout, stderr } = this.#sizes(state);
    const durationMs = Math.round(state.durationMs + this.#age());
    const now = { ...state, durationMs, stdoutBytes: stdout, stderrBytes: stderr };
    if (this.#unreachableSince === undefined) return now;
    return { ...now, status: 'unreachable', unreachableSince: this.#unreachableSince };
  }

  /** Waits for the end, or for `waitMs`. */
  async wait(waitMs: number): Promise<void> {
    const elapsed = createStopwatch();
    while (!this.hasEnded && elapsed() < waitMs) await this.#changed.wait(waitMs - elapsed());
  }

  async read(
    from: Cursor,
    { waitMs, maxBytes }: { waitMs: number; maxBytes: number },
    readFar: ReadFar,
  ): Promise<ReadResult> {
    const elapsed = createStopwatch();
    while (from >= this.#total() && from >= this.#end && !this.hasEnded && elapsed() < waitMs)
      await this.#changed.wait(waitMs - elapsed());
    // Up to `credit`, the far side pushes output without a request.
    const patienceMs = Math.min(waitMs, elapsed() + pushMs);
    while (from >= this.#end && from < this.#total() && from < this.credit && elapsed() < patienceMs)
      await this.#changed.wait(patienceMs - elapsed());
    const end = this.#total();
    const leftovers = this.#state?.end?.leftRunning.length ?? 0;
    const isInWindow = from >= this.#start && from < this.#end;
    if (isInWindow || (from === end && !(this.hasEnded && leftovers > 0)))
      return this.#readWindow(from, maxBytes);
    return readFar(from, maxBytes);
  }

  #readWindow(from: Cursor, maxBytes: number): ReadResult {
    const chunks: OutputChunk[] = [];
    let [at, left] = [from, maxBytes];
    for (let index = this.#findPiece(from); index < this.#pieces.length && left > 0; index += 1) {
      const piece = this.#pieces[index];
      if (!piece) break;
      const skip = at - piece.start;
      const data = piece.data.subarray(skip, skip + left);
      chunks.push({ stream: piece.stream, data });
      at += data.length;
      left -= data.length;
    }
    const end = this.#total();
    const final = this.hasEnded;
    if (final && at === end) this.#trim(Math.max(endedBytes, end - from));
    return { chunks, next: at, end, final, marks: this.#marks.between(from, at) };
  }

  #total(): Cursor {
    const { stdout, stderr } = this.#state?.end ? toSizes(this.#state) : toSizes(this.#grown);
    return this.#state?.end ? stdout + stderr : Math.max(this.#end, stdout + stderr);
  }

  #sizes(state: JobState): Readonly<Record<Stream, number>> {
    const [known, grown] = [toSizes(state), toSizes(this.#grown)];
    const stdout = Math.max(known.stdout, grown.stdout, this.#seen.stdout);
    return { stdout, stderr: Math.max(known.stderr, grown.stderr, this.#seen.stderr) };
  }

  /** Bytes of each stream up to `#end`, as far as they were pushed from the beginning. */
  readonly #seen = { stdout: 0, stderr: 0 };

  #append(stream: Stream, data: Buffer): void {
    const last = this.#pieces.at(-1);
    this.#seen[stream] += data.length;
    if (last && last.stream === stream && last.data.length + data.length <= joinedBytes)
      this.#pieces[this.#pieces.length - 1] = { ...last, data: Buffer.concat([last.data, data]) };
    else this.#pieces.push({ start: this.#end, stream, data });
    this.#end += data.length;
  }

  #trim(maxBytes: number): void {
    let dropped = 0;
    const most = this.#pieces.length > maxPieces ? trimmedPieces : maxPieces;
    while (this.#end - this.#start > maxBytes || this.#pieces.length - dropped > most) {
      const first = this.#pieces[dropped];
      if (!first) break;
      this.#start = first.start + first.data.length;
      dropped += 1;
    }
    if (dropped > 0) this.#pieces.splice(0, dropped);
  }

  #reset(cursor: Cursor): void {
    this.#pieces = [];
    this.#marks.clear();
    this.#start = cursor;
    this.#end = cursor;
    this.#seen.stdout = 0;
    this.#seen.stderr = 0;
  }

  #findPiece(at: Cursor): number {
    let [low, high] = [0, this.#pieces.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const piece = this.#pieces[middle];
      if (piece && piece.start + piece.data.length <= at) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function toSizes({
  stdoutBytes,
  stderrBytes,
}: {
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
}) {
  return { stdout: stdoutBytes, stderr: stderrBytes };
}

/** Removes `count` bytes from the front of `pieces` and returns them. */
function take(pieces: Buffer[], count: number): readonly Buffer[] {
  const taken: Buffer[] = [];
  for (let left = count; left > 0; ) {
    const first = pieces.shift();
    if (!first) break;
    if (first.length > left) pieces.unshift(first.subarray(left));
    taken.push(first.subarray(0, left));
    left -= Math.min(left, first.length);
  }
  return taken;
}
