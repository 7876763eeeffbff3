import { execFile } from 'node:child_process';
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NacreError } from '../../contract/failure.ts';
import { makeFolder } from '../../support/make-folder.ts';

const run = promisify(execFile);
const lowWater = 16;

/**
 * Real pipes for commands. Node's own are socket pairs, on which `tee /dev/stderr` and `> /dev/stdout` fail, and
 * Node cannot make FIFOs: they are made by `mkfifo`, many at a time and ahead of need. None is used twice where a
 * survivor might still hold it.
 */
export interface FifoPool {
  /** Hands out the names of fresh FIFOs; whoever takes them opens and unlinks them. */
  take(count: number): Promise<readonly string[]>;
  /** Takes back FIFOs that nobody has open any more, their names still in place. */
  giveBack(names: readonly string[]): void;
  /** Resolves when nothing is being made any more. */
  close(): Promise<void>;
}

/** Makes a pool that keeps its FIFOs in `folder`, made so many at a time. */
export function createFifoPool(folder: string, batchSize = 128, mkfifo = 'mkfifo'): FifoPool {
  let names: string[] = [];
  let made = 0;
  let refilling: Promise<void> | null = null;

  const refill = async () => {
    const fresh = Array.from({ length: batchSize }, () => join(folder, `fifo-${made++}`));
    await makeFifos(mkfifo, folder, fresh);
    names.push(...fresh);
  };
  const refillOnce = () => {
    refilling ??= refill().finally(() => {
      refilling = null;
    });
    return refilling;
  };

  return {
    async take(count) {
      // Somebody may have deleted the folder under us; then every name that we hold is dead.
      if (names[0] !== undefined && !existsSync(names[0])) names = [];
      while (names.length < count) await refillOnce();
      const taken = names.splice(0, count);
      if (names.length < lowWater) refillOnce().catch(() => {});
      return taken;
    },
    giveBack: (free) => void names.unshift(...free),
    async close() {
      await refilling?.catch(() => {});
    },
  };
}

async function makeFifos(mkfifo: string, folder: string, names: readonly string[]): Promise<void> {
  try {
    makeFolder(folder);
    await run(mkfifo, ['-m', '600', ...names]);
  } catch (cause) {
    for (const name of names) if (isFifo(name)) rmSync(name);
    const reason = cause instanceof Error ? cause.message.trim().split('\n').at(-1) : String(cause);
    throw new NacreError('resources_unavailable', `Cannot make pipes in ${folder}: ${reason}`, {
      hint: 'Free some space there, or set state_dir to a folder on a local file system.',
      cause,
    });
  }
}

function isFifo(path: string): boolean {
  try {
    return lstatSync(path).isFIFO();
  } catch {
    return false;
  }
}
