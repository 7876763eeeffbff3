import { closeSync, fstatSync, readSync, statSync } from 'node:fs';
import { basename } from 'node:path';
import type { OutputHooks } from '../io/capture.ts';
import { openReaders, tryOpenWriter, unlinkIfPresent } from '../io/fifo.ts';
import type { FifoPool } from '../io/fifo-pool.ts';

/** The two outputs of one command, which its shell opens by their names. */
export interface ShellOutputs {
  /** Our own ends. */
  readonly stdout: number;
  readonly stderr: number;
  /** How the shell calls them. */
  readonly names: { readonly stdout: string; readonly stderr: string };
  readonly hooks: OutputHooks;
  /** Lets go of the writing ends, once the shell has had them. */
  settle(): void;
}

/** Gives out outputs, one command after the other. */
export interface OutputStock {
  /** True when outputs are kept for the next command, their names are still in place and nobody has opened them. */
  isReady(): boolean;
  take(): Promise<ShellOutputs>;
  /** Closes what is kept for the next command. */
  rest(): Promise<void>;
}

interface Pair {
  readonly paths: readonly [string, string];
  readonly ends: readonly [number, number];
  /** By which the files are known, whatever has their names by now. */
  readonly inodes: readonly [number, number];
}

/**
 * Makes a stock of a pool. Outputs that came to their ends are held by nobody but us, and serve the next command as they
 * are: most commands then open and close nothing.
 */
export function createOutputStock(fifos: FifoPool): OutputStock {
  let kept: Pair | null = null;
  const takeKept = () => {
    const pair = kept;
    kept = null;
    return pair;
  };
  const open = async (): Promise<Pair> => {
    const [out = '', err = ''] = await fifos.take(2);
    const ends = openReaders(out, err);
    return { paths: [out, err], ends, inodes: [fstatSync(ends[0]).ino, fstatSync(ends[1]).ino] };
  };
  return {
    isReady() {
      if (kept === null || (isInPlace(kept) && isUntouched(kept))) return kept !== null;
      discard(kept);
      kept = null;
      return false;
    },
    async take() {
      const pair = takeKept() ?? (await open());
      return toOutputs(pair, {
        keep() {
          if (kept) discard(pair);
          else kept = pair;
        },
        giveBack() {
          if (isInPlace(pair)) fifos.release(pair.paths);
        },
      });
    },
    async rest() {
      if (kept) discard(kept);
      kept = null;
      await fifos.close();
    },
  };
}

function toOutputs(
  { paths, ends }: Pair,
  stock: { readonly keep: () => void; readonly giveBack: () => void },
): ShellOutputs {
  const [stdout, stderr] = ends;
  const holders: number[] = [];
  const unused: number[] = [];
  let isSettled = false;
  const hooks: OutputHooks = {
    beforePolling(end) {
      if (!isSettled) holders.push(...tryOpenWriter(paths[ends.indexOf(end)] ?? ''));
    },
    reclaim: (end) => void unused.push(end),
    onDrained(atEnd) {
      if (atEnd && unused.length === ends.length) return stock.keep();
      closeAll(unused);
      if (atEnd) stock.giveBack();
      else for (const path of paths) unlinkIfPresent(path);
    },
  };
  return {
    stdout,
    stderr,
    names: { stdout: basename(paths[0]), stderr: basename(paths[1]) },
    hooks,
    settle() {
      isSettled = true;
      closeAll(holders.splice(0));
    },
  };
}

// A command may delete a name, or give it to another file.
function isInPlace({ paths, inodes }: Pair): boolean {
  try {
    return paths.every((path, index) => statSync(path).ino === inodes[index]);
  } catch {
    return false;
  }
}

// What an earlier command left running may know the names: what it writes is not the next command's.
function isUntouched({ ends }: Pair): boolean {
  return ends.every((end) => tryToRead(end) === 0);
}

function tryToRead(end: number): number | null {
  try {
    return readSync(end, oneByte);
  } catch {
    return null;
  }
}

const oneByte = Buffer.alloc(1);

function discard({ paths, ends }: Pair): void {
  closeAll(ends);
  for (const path of paths) unlinkIfPresent(path);
}

function closeAll(descriptors: readonly number[]): void {
  for (const fd of descriptors) closeSync(fd);
}
