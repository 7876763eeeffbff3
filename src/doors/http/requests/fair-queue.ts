import type { Share } from '../../../contract/share.ts';
import { FairShares } from '../../../support/fair-shares.ts';
import { HttpProblem } from './problem.ts';

/** How many calls may run, and how many may wait. */
export interface QueueLimits {
  readonly running: number;
  readonly queued: number;
}

interface QueuedCall {
  readonly share: Share | undefined;
  start(): void;
  refuse(problem: HttpProblem): void;
}

/**
 * A bounded queue of calls. `FairShares` divides the running ones; owners are served round-robin, and when the queue is full the owner with the most waiting
 * calls loses its newest one to an owner with fewer.
 */
export class FairQueue {
  readonly #limits: QueueLimits;
  readonly #shares: FairShares;
  /** Insertion order is the round: the first owner is served next. */
  readonly #waiting = new Map<string, QueuedCall[]>();
  #queued = 0;

  constructor(limits: QueueLimits) {
    this.#limits = limits;
    this.#shares = new FairShares(limits.running);
  }

  /** How many calls are running and how many are waiting, of all owners or of one with a share. */
  counts(share?: Share | undefined): QueueLimits {
    const queued = share ? (this.#waiting.get(share.key)?.length ?? 0) : this.#queued;
    return { running: this.#shares.count(share), queued };
  }

  /** Calls `step` once there is a free slot; throws 429 when the queue is full, 499 when `signal` aborts. */
  async run<Result>(
    owner: string,
    share: Share | undefined,
    signal: AbortSignal,
    step: () => Promise<Result>,
  ): Promise<Result> {
    const free = await this.enter(owner, signal, share);
    try {
      return await step();
    } finally {
      free();
    }
  }

  /** Waits for a slot, as `run` does; the returned function frees it. */
  async enter(owner: string, signal: AbortSignal, share?: Share | undefined): Promise<() => void> {
    if (signal.aborted) throw disconnected();
    if (this.#shares.hasPlace(share) && this.#nextOwner() === undefined) return this.#occupy(share);
    if (this.#isFullFor(owner)) throw queueFull(this.#limits.queued);
    return this.#wait(owner, signal, share);
  }

  #occupy(share: Share | undefined): () => void {
    const end = this.#shares.start(share);
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      end();
      this.#startNext();
    };
  }

  /** The first owner in the round whose share has a free slot. */
  #nextOwner(): readonly [string, QueuedCall[]] | undefined {
    for (const entry of this.#waiting) if (this.#shares.hasPlace(entry[1][0]?.share)) return entry;
    return undefined;
  }

  #startNext(): void {
    const next = this.#nextOwner();
    if (next === undefined) return;
    const [owner, calls] = next;
    const call = calls.shift();
    this.#waiting.delete(owner);
    if (calls.length > 0) this.#waiting.set(owner, calls);
    this.#queued -= 1;
    call?.start();
  }

  #isFullFor(owner: string): boolean {
    if (this.#queued < this.#limits.queued) return false;
    const longest = [...this.#waiting.values()].reduce(
      (one, other) => (other.length > one.length ? other : one),
      [],
    );
    const own = this.#waiting.get(owner)?.length ?? 0;
    if (longest.length <= own + 1) return true;
    longest.at(-1)?.refuse(queueFull(this.#limits.queued));
    return false;
  }

  #wait(owner: string, signal: AbortSignal, share: Share | undefined): Promise<() => void> {
    return new Promise((resolve, reject) => {
      const calls = this.#waiting.get(owner) ?? [];
      const leave = () => call.refuse(disconnected());
      const call: QueuedCall = {
        share,
        start: () => {
          signal.removeEventListener('abort', leave);
          resolve(this.#occupy(share));
        },
        refuse: (problem) => {
          signal.removeEventListener('abort', leave);
          calls.splice(calls.indexOf(call), 1);
          if (calls.length === 0) this.#waiting.delete(owner);
          this.#queued -= 1;
          reject(problem);
        },
      };
      calls.push(call);
      this.#waiting.set(owner, calls);
      this.#queued += 1;
      signal.addEventListener('abort', leave, { once: true });
    });
  }
}

function disconnected(): HttpProblem {
  return new HttpProblem(499, 'The caller disconnected.');
}

function queueFull(limit: number): HttpProblem {
  return new HttpProblem(429, `${limit} calls are already waiting, which is the limit. Try again later.`, {
    'Retry-After': '1',
  });
}
