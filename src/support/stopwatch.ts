/** Milliseconds since it was made, on a clock that no one sets and that rests while the machine sleeps. */
export type Stopwatch = () => number;

/** Starts a stopwatch. */
export function createStopwatch(): Stopwatch {
  const start = performance.now();
  return () => performance.now() - start;
}
