import { cancelled } from '../contract/failure.ts';
import { createStopwatch } from '../support/stopwatch.ts';

/** How long a call stood in line for a persistent shell. */
export interface Wait {
  /** How many calls were before it when it came. */
  readonly ahead: number;
  readonly waitedMs: number;
}

/** How a caller waits. */
export interface Waiting {
  readonly signal?: AbortSignal | undefined;
  /** Called when it has to wait. */
  readonly onWait?: ((ahead: number) => void) | undefined;
}

/** Lines of calls: one at a time for each key, in the order in which they came. */
export interface Turns {
  /** Does a step when it is the caller's turn; a caller who cancels before that just leaves the line. */
  inTurn<T>(key: string | undefined, waiting: Waiting, step: (wait: Wait) => Promise<T>): Promise<T>;
  /** How many calls are in a line, the one that is served included. */
  length(key: string): number;
  /** How many calls wait in all lines. */
  waiting(): number;
}

interface Place {
  call: () => void;
}

/** Makes lines. */
export function createTurns(): Turns {
  const lines = new Map<string, Place[]>();

  const leave = (key: string, place: Place) => {
    const line = lines.get(key) ?? [];
    const index = line.indexOf(place);
    line.splice(index, 1);
    if (line.length === 0) lines.delete(key);
    else if (index === 0) line[0]?.call();
  };
  const enter = async (key: string, { signal, onWait }: Waiting): Promise<{ place: Place; wait: Wait }> => {
    const elapsed = createStopwatch();
    const line = lines.get(key) ?? [];
    lines.set(key, line);
    const ahead = line.length;
    const place = await new Promise<Place>((resolve, reject) => {
      const own: Place = { call: () => resolve(own) };
      line.push(own);
      const cancel = () => {
        leave(key, own);
        reject(cancelled('The call was cancelled while it waited for its shell.'));
      };
      if (ahead === 0) return resolve(own);
      if (signal?.aborted) return cancel();
      signal?.addEventListener('abort', cancel, { once: true });
      own.call = () => {
        signal?.removeEventListener('abort', cancel);
        resolve(own);
      };
      onWait?.(ahead);
    });
    return { place, wait: { ahead, waitedMs: Math.round(elapsed()) } };
  };

  return {
    async inTurn(key, waiting, step) {
      if (key === undefined) return step({ ahead: 0, waitedMs: 0 });
      const { place, wait } = await enter(key, waiting);
      try {
        return await step(wait);
      } finally {
        leave(key, place);
      }
    },
    waiting: () => [...lines.values()].reduce((sum, line) => sum + line.length - 1, 0),
    length: (key) => lines.get(key)?.length ?? 0,
  };
}
