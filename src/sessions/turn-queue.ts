import { cancelled } from '../contract/failure.ts';
import { createStopwatch } from '../support/timing.ts';

/** How long a call was queued. */
export interface QueueWait {
  readonly ahead: number;
  readonly waitedMs: number;
}

/** Options of `inTurn`. */
export interface WaitOptions {
  /** Removes a waiting call from the queue, which rejects it as `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Called if the call has to wait. */
  readonly onWait?: ((ahead: number) => void) | undefined;
}

/** Runs one `step` per key at a time, in order of arrival. */
export interface TurnQueue {
  /** Runs `step` when all earlier calls for the key are done, immediately without a key. */
  inTurn<T>(key: string | undefined, options: WaitOptions, step: (wait: QueueWait) => Promise<T>): Promise<T>;
  waiting(): number;
}

interface Ticket {
  run: () => void;
}

/** Creates an empty queue. */
export function createTurnQueue(): TurnQueue {
  const queues = new Map<string, Ticket[]>();

  const leave = (key: string, ticket: Ticket) => {
    const queue = queues.get(key) ?? [];
    const index = queue.indexOf(ticket);
    queue.splice(index, 1);
    if (queue.length === 0) queues.delete(key);
    else if (index === 0) queue[0]?.run();
  };
  const enter = async (key: string, { signal, onWait }: WaitOptions) => {
    const elapsed = createStopwatch();
    const queue = queues.get(key) ?? [];
    queues.set(key, queue);
    const ahead = queue.length;
    const ticket = await new Promise<Ticket>((resolve, reject) => {
      const own: Ticket = { run: () => resolve(own) };
      queue.push(own);
      const cancel = () => {
        leave(key, own);
        reject(cancelled('The call was cancelled while it waited for its shell.'));
      };
      if (ahead === 0) return resolve(own);
      if (signal?.aborted) return cancel();
      signal?.addEventListener('abort', cancel, { once: true });
      own.run = () => {
        signal?.removeEventListener('abort', cancel);
        resolve(own);
      };
      onWait?.(ahead);
    });
    return { ticket, wait: { ahead, waitedMs: Math.round(elapsed()) } };
  };

  return {
    async inTurn(key, options, step) {
      if (key === undefined) return step({ ahead: 0, waitedMs: 0 });
      const { ticket, wait } = await enter(key, options);
      try {
        return await step(wait);
      } finally {
        leave(key, ticket);
      }
    },
    waiting: () => [...queues.values()].reduce((sum, queue) => sum + queue.length - 1, 0),
  };
}
