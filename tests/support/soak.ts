/** The share of their full number of runs that random and load tests make: `NACRE_SOAK`, from 0 (default) to 1. */
const share = Number(process.env.NACRE_SOAK) || 0;

/** True in the long-running job, which repeats random and load tests many times. */
export const isSoak = share > 0;

/** The number of repetitions of a random or load test: `NACRE_SOAK` of `full`, and at least `short`. */
export function soakCount(full: number, short: number): number {
  return Math.max(short, Math.round(full * share));
}
