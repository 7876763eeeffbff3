/** A promise with its `resolve` and `reject` functions. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
}

/** Creates a promise that is settled by its methods; `Promise.withResolvers` needs Node 22. */
export function createDeferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve;
    reject = onReject;
  });
  return { promise, resolve, reject };
}

/**
 * Waits at most `ms` for a promise; returns whether it resolved in time, and rejects if it rejects. Clears its timer.
 */
export async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  try {
    return await Promise.race([promise.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

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

/** Resolves after `ms`, or as soon as `signal` aborts; never rejects. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener('abort', done, { once: true });
    if (signal?.aborted) done();
  });
}

/** Lets the event loop run, so that a program that polls in a loop does not block what it polls for. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Milliseconds since its creation on the monotonic clock, which stops while the machine is suspended. */
export type Stopwatch = () => number;

/** Starts a stopwatch. */
export function createStopwatch(): Stopwatch {
  const start = performance.now();
  return () => performance.now() - start;
}
