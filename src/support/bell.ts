/** Wakes whoever waits for the next change; nobody polls. */
export interface Bell {
  ring(): void;
  /** Resolves at the next ring, or after `ms`. */
  heard(ms: number): Promise<void>;
}

/** Makes a bell. */
export function createBell(): Bell {
  const waiting = new Set<() => void>();
  return {
    ring() {
      for (const resume of waiting) resume();
    },
    heard: (ms) =>
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
