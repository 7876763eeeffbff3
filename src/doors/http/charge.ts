import type { HttpCaller } from './callers.ts';
import { HttpProblem } from './problem.ts';

/**
 * Counts against the rate of a caller; throws 429 when it is used up. One request can bring many commands, over a socket or
 * in a batch, so that these are counted for themselves.
 */
export function charge({ rate }: Pick<HttpCaller, 'rate'>, what: 'requests' | 'commands'): void {
  const waitMs = rate?.take(what) ?? 0;
  if (waitMs > 0) throw tooMany('The rate of this token is used up.', waitMs);
}

/** Tells whoever came too often when to come again. */
export function tooMany(why: string, waitMs: number): HttpProblem {
  const seconds = Math.ceil(waitMs / 1_000);
  return new HttpProblem(429, `${why} Try again in ${seconds} s.`, { 'Retry-After': String(seconds) });
}
