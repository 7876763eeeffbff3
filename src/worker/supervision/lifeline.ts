import { closeSync } from 'node:fs';
import { type Fifo, openForWriting } from '../io/fifo.ts';
import type { FifoPool } from '../io/fifo-pool.ts';

/**
 * A pipe to which nothing is ever written, one for all keepers: `theirs` is at its end when we are, however we end. Made
 * at the first need.
 */
export interface Lifeline {
  (): Promise<Fifo>;
  close(): Promise<void>;
}

/** Makes one from a pool's FIFO. */
export function createLifeline(fifos: FifoPool): Lifeline {
  let made: Promise<Fifo> | undefined;
  const make = async () => {
    const [name = ''] = await fifos.take(1);
    return openForWriting(name);
  };
  const get = () => {
    // A failure is not kept: the next command finds out whether the cause is gone.
    made ??= make().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
  const close = async () => {
    const making = made;
    made = undefined;
    const pipe = await making?.catch(() => undefined);
    if (pipe) for (const fd of [pipe.ours, pipe.theirs]) closeSync(fd);
  };
  return Object.assign(get, { close });
}
