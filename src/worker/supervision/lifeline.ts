import { closeSync } from 'node:fs';
import { type Fifo, openForWriting } from '../io/fifo.ts';
import type { FifoPool } from '../io/fifo-pool.ts';

/**
 * A pipe to which nothing is ever written, shared by all keepers: they have its reading end as descriptor 4, where EOF
 * means that the server is gone, however it ended. Opened at the first use.
 */
export class Lifeline {
  readonly #fifos: FifoPool;
  #opening: Promise<Fifo> | undefined;

  constructor(fifos: FifoPool) {
    this.#fifos = fifos;
  }

  /** The reading end, for the `stdio` of a child process. */
  async readEnd(): Promise<number> {
    // A failed attempt is not kept: the next command tries again.
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return (await this.#opening).theirs;
  }

  async close(): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    const pipe = await opening?.catch(() => undefined);
    if (pipe) for (const fd of [pipe.ours, pipe.theirs]) closeSync(fd);
  }

  async #open(): Promise<Fifo> {
    const [name = ''] = await this.#fifos.take(1);
    return openForWriting(name);
  }
}
