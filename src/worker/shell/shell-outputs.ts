import { closeSync } from 'node:fs';
import { basename } from 'node:path';
import { type NamedFifo, openNamed, removeName } from '../fifo.ts';
import type { FifoPool } from '../fifo-pool.ts';

/** The two outputs of one command, which its shell opens by their names. */
export interface ShellOutputs {
  readonly stdout: NamedFifo;
  readonly stderr: NamedFifo;
  /** How the shell calls them. */
  readonly names: { readonly stdout: string; readonly stderr: string };
  /** Lets go of the writing ends, once the shell has had them. */
  settle(): void;
  /**
   * Lets go of the names, once what came has been read. Where both outputs came to their ends nobody holds them any more,
   * and they can serve the next command.
   */
  release(atEnd: boolean): void;
  /** Closes our own ends, for outputs that nobody reads. */
  close(): void;
}

/** Takes fresh outputs from a pool. */
export async function takeOutputs(fifos: FifoPool): Promise<ShellOutputs> {
  const [out = '', err = ''] = await fifos.take(2);
  const [stdout, stderr] = [openNamed(out), openNamed(err)];
  return {
    stdout,
    stderr,
    names: { stdout: basename(out), stderr: basename(err) },
    settle() {
      for (const { holder } of [stdout, stderr]) closeSync(holder);
    },
    release(atEnd) {
      if (atEnd) fifos.giveBack([out, err]);
      else for (const name of [out, err]) removeName(name);
    },
    close() {
      for (const { ours } of [stdout, stderr]) closeSync(ours);
      for (const name of [out, err]) removeName(name);
    },
  };
}
