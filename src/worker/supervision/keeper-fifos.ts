import { closeSync } from 'node:fs';
import { openNamedForWriting, openReader, unlinkIfPresent } from '../io/fifo-pool.ts';
import type { KeeperEnds } from './follow-keeper.ts';

/** The names of the four FIFOs of a keeper. */
export interface KeeperFifos {
  readonly stdin: string;
  readonly stdout: string;
  readonly stderr: string;
  readonly status: string;
}

/** Names four FIFOs in the order in which plans have them. */
export function toFifos([stdout = '', stderr = '', status = '', stdin = '']: readonly string[]): KeeperFifos {
  return { stdin, stdout, stderr, status };
}

/** Our ends of a keeper's FIFOs. */
export interface OpenedEnds {
  readonly ends: KeeperEnds;
  /** Closes the `holder` of `stdin` and unlinks the FIFOs, once the other ends are open. */
  settle(): void;
}

/** Opens our ends before the keeper is started; throws, and unlinks all names, if one cannot be opened. */
export function openEnds({ stdout, stderr, status, stdin }: KeeperFifos): OpenedEnds {
  const names = [stdout, stderr, status, stdin];
  const opened: number[] = [];
  const openRead = (name: string) => {
    const fd = openReader(name);
    opened.push(fd);
    return fd;
  };
  try {
    const readers = { stdout: openRead(stdout), stderr: openRead(stderr), status: openRead(status) };
    const { ours, holder } = openNamedForWriting(stdin);
    const settle = () => {
      closeSync(holder);
      unlinkAll(names);
    };
    return { ends: { ...readers, stdin: ours }, settle };
  } catch (error) {
    for (const fd of opened) closeSync(fd);
    unlinkAll(names);
    throw error;
  }
}

function unlinkAll(names: readonly string[]): void {
  for (const name of names) unlinkIfPresent(name);
}
