/** Counts events by name, so many a minute. */
export interface RateLimit {
  /** Notes an event and returns 0; how many ms to wait, and notes nothing, when there were too many. */
  take(name: string): number;
}

const minuteMs = 60_000;
// Whoever comes under ever new names must not fill the memory.
const mostNames = 10_000;

/** Makes a limit of so many events a minute, refilled steadily. */
export function createRateLimit(perMinute: number, now: () => number = () => performance.now()): RateLimit {
  const costMs = minuteMs / perMinute;
  // By when all that a name has taken is refilled.
  const refilledAt = new Map<string, number>();
  return {
    take(name) {
      const next = Math.max(now(), refilledAt.get(name) ?? 0) + costMs;
      const waitMs = Math.ceil(next - now() - minuteMs);
      // What is refused costs nothing: whoever asks again and again would otherwise never get anything.
      if (waitMs > 0) return waitMs;
      refilledAt.delete(name);
      refilledAt.set(name, next);
      const [oldest] = refilledAt.keys();
      if (refilledAt.size > mostNames && oldest !== undefined) refilledAt.delete(oldest);
      return 0;
    },
  };
}
