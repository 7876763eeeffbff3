import { closeSync, constants, openSync, unlinkSync } from 'node:fs';

const { O_NONBLOCK, O_RDONLY, O_RDWR, O_WRONLY } = constants;

/** Both ends of a named pipe whose name is already gone. */
export interface Fifo {
  /** The end that stays with us and never blocks us. */
  readonly ours: number;
  /** The end that the command gets, which behaves like any pipe. */
  readonly theirs: number;
}

/** Opens a FIFO that the command writes to. The writer is held until the command has it, or we would read an end. */
export function openForReading(name: string): Fifo {
  return withHolder(name, O_RDONLY | O_NONBLOCK, () => {
    const [ours, theirs] = openBoth(name, O_RDONLY | O_NONBLOCK, O_WRONLY);
    return { ours, theirs };
  });
}

/** A FIFO that a shell opens by its name; `holder` stands at its other end until then. */
export interface NamedFifo {
  readonly ours: number;
  readonly holder: number;
}

/** Opens two FIFOs for reading, whoever will write to them. */
export function openReaders(one: string, other: string): readonly [number, number] {
  const first = openReader(one);
  try {
    return [first, openReader(other)];
  } catch (error) {
    closeSync(first);
    throw error;
  }
}

/** Stands at the writing end of a FIFO that is being read; nowhere when its name is gone. */
export function tryToHold(name: string): readonly number[] {
  try {
    return [openSync(name, O_WRONLY | O_NONBLOCK)];
  } catch {
    return [];
  }
}

/** Opens a FIFO for reading, whoever will write to it. */
export function openReader(name: string): number {
  return openSync(name, O_RDONLY | O_NONBLOCK);
}

/** Opens a FIFO that is read by whoever opens its name; `holder` is there until then. */
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

/** Takes a FIFO's name away, wherever it still is. */
export function removeName(name: string): void {
  try {
    unlinkSync(name);
  } catch {
    // Somebody has deleted the folder.
  }
}

// O_NONBLOCK belongs to the open file, which a child shares with us: the command's end is opened without it, and
// that does not block only because somebody (the holder) is already at the other end.
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
