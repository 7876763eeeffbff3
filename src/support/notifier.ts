/** Wakes waiting callers at the next change, so that they need not poll. */
export interface Notifier {
  notifyAll(): void;
  /** Resolves at the next `notifyAll`, or after `ms`. */
  wait(ms: number): Promise<void>;
}

/** Creates a notifier. */
export function createNotifier(): Notifier {
  const waiting = new Set<() => void>();
  return {
    notifyAll() {
      for (const resume of waiting) resume();
    },
    wait: (ms) =>
      new Promise((resolve) => {
        const resume = () => {
          clearTimeout(timer);
          waiting.delete(resume);
          resolve();
        };
        const timer = setTimeout(resume, ms);
        waiting.add(resume);
      }),
  };
}
