/** Counts events by name; false when there were too many within the last minute. */
export interface RateLimit {
  /** Notes an event. */
  take(name: string): boolean;
}

const minuteMs = 60_000;
// Whoever comes under ever new names must not fill the memory.
const mostNames = 10_000;

/** Makes a limit of so many events a minute, refilled steadily. */
export function createRateLimit(perMinute: number, now: () => number = () => performance.now()): RateLimit {
  const levels = new Map<string, { left: number; at: number }>();
  const level = (name: string) => {
    const known = levels.get(name);
    if (known === undefined) return perMinute;
    return Math.min(perMinute, known.left + ((now() - known.at) * perMinute) / minuteMs);
  };
  return {
    take(name) {
      const left = level(name);
      levels.delete(name);
      levels.set(name, { left: Math.max(0, left - 1), at: now() });
      const [oldest] = levels.keys();
      if (levels.size > mostNames && oldest !== undefined) levels.delete(oldest);
      return left >= 1;
    },
  };
}
