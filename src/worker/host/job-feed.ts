import type { Cursor, JobState, ReadResult } from '../../contract/job.ts';
import { careMs, type OutputFrame } from '../../contract/wire.ts';
import { createNotifier, sleep } from '../../support/timing.ts';
import type { Peer } from '../../wire/peer.ts';
import type { HostedJob } from './hosted-job.ts';
import { pieceBytes, type SendBuffers } from './send-buffers.ts';

const waitMs = 600_000;
// Without credit only the growth of the log is reported, at most once per this interval.
const growthMs = 200;
const firstCheckMs = 10;
const lastCheckMs = 200;

/** Pushes the output and the states of one job to one link. */
export class JobFeed {
  readonly #job: HostedJob;
  readonly #peer: Peer;
  readonly #buffers: SendBuffers;
  readonly #changed = createNotifier();
  #at: Cursor;
  #credit: Cursor;
  #isClosed = false;
  #careUntil = 0;
  #isCaring = false;
  #lastAwaiting: boolean | undefined;
  #checkMs = firstCheckMs;

  constructor(
    job: HostedJob,
    { peer, buffers }: { readonly peer: Peer; readonly buffers: SendBuffers },
    { from, credit }: { readonly from: Cursor; readonly credit: Cursor },
  ) {
    this.#job = job;
    this.#peer = peer;
    this.#buffers = buffers;
    this.#at = from;
    this.#credit = credit;
    void this.#run().catch(() => {});
  }

  /** Allows output up to a cursor. */
  allow(upTo: Cursor): void {
    this.#credit = Math.max(this.#credit, upTo);
    this.#changed.notifyAll();
  }

  /** Reports for `careMs` whether a process of the job waits for input. */
  care(): void {
    this.#careUntil = performance.now() + careMs;
    if (!this.#isCaring) void this.#observe().catch(() => {});
  }

  /** Called after input was typed: an earlier report that a process waits for input may be outdated. */
  typed(): void {
    this.#lastAwaiting = undefined;
    this.#checkMs = firstCheckMs;
    this.care();
  }

  close(): void {
    this.#isClosed = true;
    this.#changed.notifyAll();
  }

  async #run(): Promise<void> {
    while (!this.#isClosed) {
      const found = this.#credit > this.#at ? await this.#pushOutput() : await this.#pushGrowth();
      if (found.final && (found.next >= found.end || this.#credit <= this.#at)) break;
    }
    await this.#job.ended;
    if (this.#isClosed) return;
    this.#pushState(await this.#job.state());
    await this.#pushRest();
  }

  async #pushOutput(): Promise<ReadResult> {
    const maxBytes = Math.min(pieceBytes, this.#credit - this.#at);
    const { allocate, release } = this.#buffers.open();
    const found = await this.#job.read(this.#at, { waitMs, maxBytes, allocate });
    if (this.#isClosed || found.next === this.#at) return found;
    const frames = found.chunks.map(({ stream, data }): OutputFrame => [stream, data.length]);
    const raw = found.chunks.map(({ data }) => data);
    const { marks } = found;
    if (frames.length > 0)
      this.#peer.push({ event: 'output', id: this.#job.id, cursor: this.#at, frames, marks }, raw, release);
    this.#at = found.next;
    this.#checkMs = firstCheckMs;
    await this.#peer.drained();
    return found;
  }

  // Reading with `maxBytes: 0` at the end of the log waits for growth; credit ends the wait as well.
  async #pushGrowth(): Promise<ReadResult> {
    const { end, final } = await this.#job.read(this.#at, { waitMs: 0, maxBytes: 0 });
    if (!final) {
      const grown = this.#job.read(end, { waitMs, maxBytes: 0 }).catch(() => {});
      await Promise.race([grown, this.#changed.wait(waitMs)]);
      const { stdoutBytes, stderrBytes } = await this.#job.state();
      if (!this.#isClosed) this.#peer.push({ event: 'grown', id: this.#job.id, stdoutBytes, stderrBytes });
      if (this.#credit <= this.#at && !this.#isClosed) await this.#changed.wait(growthMs);
    }
    return { chunks: [], next: this.#at, end, final };
  }

  async #pushRest(): Promise<void> {
    while (!this.#isClosed) {
      const found = this.#credit > this.#at ? await this.#pushOutput() : null;
      if (found && found.next >= found.end) return;
      if (!found) await this.#changed.wait(waitMs);
    }
  }

  async #observe(): Promise<void> {
    this.#isCaring = true;
    try {
      while (!this.#isClosed && !this.#job.hasEnded && performance.now() < this.#careUntil) {
        await sleep(this.#checkMs);
        this.#checkMs = Math.min(this.#checkMs * 2, lastCheckMs);
        if (this.#job.hasEnded || this.#isClosed) return;
        const on = await this.#job.worker.awaitsInput(this.#job.id);
        if (on !== this.#lastAwaiting) this.#peer.push({ event: 'awaiting', id: this.#job.id, on });
        this.#lastAwaiting = on;
      }
    } finally {
      this.#isCaring = false;
    }
  }

  #pushState(state: JobState): void {
    this.#peer.push({ event: 'state', id: this.#job.id, state });
  }
}
