/** True in the long-running job (`NACRE_SOAK=1`), which repeats random and load tests many times. */
export const isSoak = process.env.NACRE_SOAK === '1';

/** The number of repetitions of a random or load test: `full` with `NACRE_SOAK=1`, otherwise `short`. */
export function soakCount(full: number, short: number): number {
  return isSoak ? full : short;
}
