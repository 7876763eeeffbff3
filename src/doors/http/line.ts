import { HttpProblem } from './problem.ts';

/** A line of calls: so many at once, the callers in turn, and an end to its length. */
export interface Line {
  /** Waits for a place, which the returned function gives back; throws 429 when the line is full. */
  enter(caller: string, signal: AbortSignal): Promise<() => void>;
  /** How many are served and how many wait. */
  counts(): { readonly running: number; readonly queued: number };
}

/** Makes a line. Whoever has many calls in it waits for those with few: callers are served round and round. */
export function createLine(limits: { readonly running: number; readonly queued: number }): Line {
  const waiting = new Map<string, (() => void)[]>();
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
    call?.();
  };
  const leave = () => {
    running -= 1;
    next();
  };
  const serve = () => {
    running += 1;
    let left = false;
    return () => {
      if (!left) leave();
      left = true;
    };
  };

  return {
    counts: () => ({ running, queued }),
    async enter(caller, signal) {
      if (signal.aborted) throw gone();
      if (running < limits.running && queued === 0) return serve();
      if (queued >= limits.queued) throw tooMany(limits.queued);
      queued += 1;
      return new Promise((resolve, reject) => {
        const call = () => {
          signal.removeEventListener('abort', giveUp);
          resolve(serve());
        };
        const calls = waiting.get(caller) ?? [];
        const giveUp = () => {
          calls.splice(calls.indexOf(call), 1);
          if (calls.length === 0) waiting.delete(caller);
          queued -= 1;
          reject(gone());
        };
        calls.push(call);
        waiting.set(caller, calls);
        signal.addEventListener('abort', giveUp, { once: true });
      });
    },
  };
}

function gone(): HttpProblem {
  return new HttpProblem(499, 'The caller has gone.');
}

function tooMany(queued: number): HttpProblem {
  return new HttpProblem(429, `${queued} calls are waiting already, which is the limit. Try again later.`, {
    'Retry-After': '1',
  });
}
