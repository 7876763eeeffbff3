/** Milliseconds since its creation on the monotonic clock, which stops while the machine is suspended. */
export type Stopwatch = () => number;

/** Starts a stopwatch. */
export function createStopwatch(): Stopwatch {
  const start = performance.now();
  return () => performance.now() - start;
}
