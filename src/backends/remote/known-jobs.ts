// Jobs on another machine that an earlier process started and recorded on this machine's disk. They are `unreachable`
// until the worker has answered `takeUp`; a job that is missing in its answer is `lost`.
import type { TakeUpRequest } from '../../contract/backend.ts';
import type { JobState } from '../../contract/job.ts';
import { firstCredit } from '../../contract/wire.ts';
import { createDeferred, type Deferred, settlesWithin } from '../../support/timing.ts';
import { checkKept } from './check-far.ts';
import type { Connection } from './connection.ts';
import { lostBecause, toLost, toUnknown } from './lost-states.ts';
import { Mirror } from './mirror.ts';

/** A job as an earlier process recorded it. */
export interface KnownJob {
  readonly id: string;
  readonly startedAt: string;
}

/** The state of a job after `takeUp`; `typed` is absent if the worker has not answered. */
export interface TakenJob {
  readonly state: JobState;
  readonly typed?: string | undefined;
  readonly hide: readonly string[];
}

interface Pending {
  readonly request: TakeUpRequest;
  readonly mirrors: readonly Mirror[];
  readonly done: Deferred<void>;
  isSent: boolean;
}

/** Sends `takeUp` for jobs of earlier processes, again after each reconnection until it is answered. */
export class KnownJobs {
  readonly #connection: Connection;
  readonly #pending = new Set<Pending>();
  readonly #typed = new Map<string, string>();
  readonly #hidden = new Map<string, readonly string[]>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** True while `takeUp` has not been answered for the job, so that it is not known whether the worker still has it. */
  isUnanswered(id: string): boolean {
    return [...this.#pending].some(({ mirrors }) => mirrors.some((mirror) => mirror.id === id));
  }

  /** Secrets that were typed into a job before this process took it up. */
  hiddenIn(id: string): readonly string[] {
    return this.#hidden.get(id) ?? [];
  }

  get hasUnanswered(): boolean {
    return this.#pending.size > 0;
  }

  /** Sends `takeUp` for `jobs` as soon as the stream is open. Returns their mirrors, which are unreachable until the answer. */
  add(request: TakeUpRequest, jobs: readonly KnownJob[]): readonly Mirror[] {
    const mirrors = jobs.map(({ id, startedAt }) => {
      const mirror = new Mirror(id);
      mirror.set(toUnknown(id, startedAt));
      mirror.setUnreachable(new Date().toISOString());
      return mirror;
    });
    const pending = { request, mirrors, done: createDeferred<void>(), isSent: false };
    this.#pending.add(pending);
    if (this.#connection.isOpen) this.send();
    return mirrors;
  }

  /** Waits until every earlier `takeUp` has been answered, at most `waitMs`. */
  async settled(waitMs: number): Promise<void> {
    await settlesWithin(Promise.all([...this.#pending].map(({ done }) => done.promise)), waitMs);
  }

  /** The state of a job whose mirror `add` returned. */
  taken(mirror: Mirror): TakenJob {
    return { state: mirror.state(), typed: this.#typed.get(mirror.id), hide: this.hiddenIn(mirror.id) };
  }

  /** Sends the requests that have no answer yet; called whenever the stream is opened. */
  send(): void {
    for (const pending of this.#pending) if (!pending.isSent) void this.#ask(pending);
  }

  forget(id: string): void {
    this.#typed.delete(id);
    this.#hidden.delete(id);
  }

  async #ask(pending: Pending): Promise<void> {
    pending.isSent = true;
    try {
      this.#receive(pending, await this.#connection.call('takeUp', pending.request));
      this.#pending.delete(pending);
      pending.done.resolve();
    } catch {
      // The stream broke, or the answer was malformed: `send` repeats the request on the next stream.
      pending.isSent = false;
    }
  }

  #receive({ mirrors }: Pending, answer: unknown): void {
    const kept = checkKept(answer);
    for (const mirror of mirrors) {
      const found = kept.get(mirror.id);
      if (!found) {
        mirror.set(toLost(mirror.state(), lostBecause.forgotten));
        continue;
      }
      if (found.typed !== undefined) this.#typed.set(mirror.id, found.typed);
      this.#hidden.set(mirror.id, found.hide);
      // The worker pushes the output from the beginning.
      mirror.credit = firstCredit;
      mirror.set(found.state);
    }
  }
}
