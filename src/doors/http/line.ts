import type { HttpCaller } from './callers.ts';
import { HttpProblem } from './problem.ts';

/** A line of calls: so many at once, the callers in turn, and an end to its length. */
export interface Line {
  /** Waits for a place, which the returned function gives back; throws 429 when the line is full. */
  enter(caller: string, signal: AbortSignal): Promise<() => void>;
  /** How many are served and how many wait. */
  counts(): { readonly running: number; readonly queued: number };
}

interface Waiting {
  serve(): void;
  refuse(problem: HttpProblem): void;
}

/**
 * Makes a line. Whoever has many calls in it waits for those with few: callers are served round and round, and in a full
 * line the one with most of its places gives one up for a caller with fewer.
 */
export function createLine(limits: { readonly running: number; readonly queued: number }): Line {
  const waiting = new Map<string, Waiting[]>();
  let running = 0;
  let queued = 0;

  const next = () => {
    const [first] = waiting;
    if (first === undefined) return;
    const [caller, calls] = first;
    const call = calls.shift();
    waiting.delete(caller);
    // To the end of the round.
    if (calls.length > 0) waiting.set(caller, calls);
    queued -= 1;
    call?.serve();
  };
  const serve = () => {
    running += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      running -= 1;
      next();
    };
  };
  const isFullFor = (caller: string) => {
    if (queued < limits.queued) return false;
    const longest = [...waiting.values()].reduce(
      (one, other) => (other.length > one.length ? other : one),
      [],
    );
    const own = waiting.get(caller)?.length ?? 0;
    if (longest.length <= own + 1) return true;
    longest.at(-1)?.refuse(tooMany(limits.queued));
    return false;
  };
  const wait = (caller: string, signal: AbortSignal) =>
    new Promise<() => void>((resolve, reject) => {
      const calls = waiting.get(caller) ?? [];
      const leave = () => call.refuse(gone());
      const call: Waiting = {
        serve() {
          signal.removeEventListener('abort', leave);
          resolve(serve());
        },
        refuse(problem) {
          signal.removeEventListener('abort', leave);
          calls.splice(calls.indexOf(call), 1);
          if (calls.length === 0) waiting.delete(caller);
          queued -= 1;
          reject(problem);
        },
      };
      calls.push(call);
      waiting.set(caller, calls);
      queued += 1;
      signal.addEventListener('abort', leave, { once: true });
    });

  return {
    counts: () => ({ running, queued }),
    async enter(caller, signal) {
      if (signal.aborted) throw gone();
      if (running < limits.running && queued === 0) return serve();
      if (isFullFor(caller)) throw tooMany(limits.queued);
      return wait(caller, signal);
    },
  };
}

/** Does something for a caller when it is its turn. */
export async function inLine<Result>(
  line: Line,
  { owner }: Pick<HttpCaller, 'owner'>,
  signal: AbortSignal,
  step: () => Promise<Result>,
): Promise<Result> {
  const leave = await line.enter(owner, signal);
  try {
    return await step();
  } finally {
    leave();
  }
}

function gone(): HttpProblem {
  return new HttpProblem(499, 'The caller has gone.');
}

function tooMany(queued: number): HttpProblem {
  return new HttpProblem(429, `${queued} calls are waiting already, which is the limit. Try again later.`, {
    'Retry-After': '1',
  });
}
