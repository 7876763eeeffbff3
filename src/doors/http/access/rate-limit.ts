import { HttpProblem } from '../requests/problem.ts';

/** Counts events per name and minute. */
export interface RateLimit {
  /** Counts an event and returns 0; over the limit it counts nothing and returns how many ms to wait. */
  take(name: string): number;
  /** How many ms to wait until an event is within the limit; 0 if it is now. Counts nothing. */
  waitMs(name: string): number;
}

const minuteMs = 60_000;
// Bounds the memory that callers who keep changing their name can use.
const maxNames = 10_000;

/** Creates a limit of `perMinute` events, refilled continuously. */
export function createRateLimit(perMinute: number, now: () => number = () => performance.now()): RateLimit {
  const costMs = minuteMs / perMinute;
  // When the whole allowance of a name is available again.
  const refilledAt = new Map<string, number>();
  const nextOf = (name: string) => Math.max(now(), refilledAt.get(name) ?? 0) + costMs;
  const waitMs = (name: string) => Math.max(0, Math.ceil(nextOf(name) - now() - minuteMs));
  return {
    waitMs,
    take(name) {
      const next = nextOf(name);
      // A refused event is not counted, or a caller that keeps retrying would be refused forever.
      const wait = waitMs(name);
      if (wait > 0) return wait;
      refilledAt.delete(name);
      refilledAt.set(name, next);
      const [oldest] = refilledAt.keys();
      if (refilledAt.size > maxNames && oldest !== undefined) refilledAt.delete(oldest);
      return 0;
    },
  };
}

/**
 * Counts against the `requests_per_minute` of a caller; throws 429 over the limit. Commands are counted separately
 * from requests, since one socket or one MCP batch can contain many of them.
 */
export function charge(
  { rate }: { readonly rate?: RateLimit | undefined },
  kind: 'requests' | 'commands',
): void {
  const waitMs = rate?.take(kind) ?? 0;
  if (waitMs > 0) throw tooMany('This token has reached its rate limit.', waitMs);
}

/** A 429 that says when to retry. */
export function tooMany(reason: string, waitMs: number): HttpProblem {
  const seconds = Math.ceil(waitMs / 1_000);
  return new HttpProblem(429, `${reason} Try again in ${seconds} s.`, { 'Retry-After': String(seconds) });
}
