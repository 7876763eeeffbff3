import { closeSync, constants, openSync, unlinkSync } from 'node:fs';

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/** Both ends of a FIFO whose name is already unlinked. */
export interface Fifo {
  /** Our end, opened with O_NONBLOCK. */
  readonly ours: number;
  /** The command's end, which blocks like any pipe. */
  readonly theirs: number;
}

/** Opens a FIFO that the command writes to; `theirs` must stay open until the command has it, or `ours` reads EOF. */
export function openForReading(name: string): Fifo {
  return withHolder(name, O_RDONLY | O_NONBLOCK, () => {
    const [ours, theirs] = openBoth(name, O_RDONLY | O_NONBLOCK, O_WRONLY);
    return { ours, theirs };
  });
}

/** A FIFO whose other end a shell opens by name; `holder` has that end open until then. */
export interface NamedFifo {
  readonly ours: number;
  readonly holder: number;
}

/** Opens two FIFOs with `openReader`. */
export function openReaders(one: string, other: string): readonly [number, number] {
  const first = openReader(one);
  try {
    return [first, openReader(other)];
  } catch (error) {
    closeSync(first);
    throw error;
  }
}

/** Opens the writing end of a FIFO that has a reader; returns an empty list if its name is gone. */
export function tryOpenWriter(name: string): readonly number[] {
  try {
    return [openSync(name, O_WRONLY | O_NONBLOCK)];
  } catch {
    return [];
  }
}

/** Opens a FIFO for reading without waiting for a writer. */
export function openReader(name: string): number {
  return openSync(name, O_RDONLY | O_NONBLOCK);
}

/** Opens a FIFO for writing that another process will open by name; `holder` is its reader until then. */
export function openNamedForWriting(name: string): NamedFifo {
  const [holder, ours] = openBoth(name, O_RDONLY | O_NONBLOCK, O_WRONLY | O_NONBLOCK);
  return { ours, holder };
}

/** Opens a FIFO that the command reads from. */
export function openForWriting(name: string): Fifo {
  return withHolder(name, O_RDWR | O_NONBLOCK, () => {
    const [theirs, ours] = openBoth(name, O_RDONLY, O_WRONLY | O_NONBLOCK);
    return { ours, theirs };
  });
}

/** Unlinks a FIFO's name, if it still exists. */
export function unlinkIfPresent(name: string): void {
  try {
    unlinkSync(name);
  } catch {
    // ENOENT: the FIFO or its folder was deleted.
  }
}

// A child shares the open file description, and with it O_NONBLOCK, so the command's end is opened without that flag.
// That open() does not block, because `holder` already has the other end open.
function withHolder(name: string, holderFlags: number, open: () => Fifo): Fifo {
  const holder = openSync(name, holderFlags);
  try {
    return open();
  } finally {
    closeSync(holder);
    unlinkSync(name);
  }
}

function openBoth(name: string, readerFlags: number, writerFlags: number): readonly [number, number] {
  const reader = openSync(name, readerFlags);
  try {
    return [reader, openSync(name, writerFlags)];
  } catch (error) {
    closeSync(reader);
    throw error;
  }
}
