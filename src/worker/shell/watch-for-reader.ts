import {
  type BlockedReader,
  findBlockedReader,
  type InputFile,
  isSameBlock,
} from '../observe/find-blocked-reader.ts';

const againMs = 100;
const longestMs = 4_000;

/** Options of `watchForReader`. */
export interface ReaderWatch {
  readonly root: number;
  readonly pipe: InputFile;
  readonly firstMs: number;
  /** Called in each check. */
  onCheck(): void;
  onReading(): void;
}

/**
 * Calls `onReading` when a process at or below `root` is blocked in a read of `pipe`: in two checks in a row, since one
 * could catch a process that is about to continue. The checks become rarer up to every 4 s; the returned function stops them.
 */
export function watchForReader({ root, pipe, firstMs, onCheck, onReading }: ReaderWatch): () => void {
  let seen: BlockedReader | null = null;
  let timer: NodeJS.Timeout | undefined;
  const check = (delayMs: number) => {
    onCheck();
    const reader = findBlockedReader(root, pipe);
    if (!reader?.isStopped && isSameBlock(reader, seen)) return onReading();
    seen = reader;
    schedule(reader ? againMs : Math.min(delayMs * 2, longestMs));
  };
  const schedule = (delayMs: number) => {
    timer = setTimeout(check, delayMs, delayMs).unref();
  };
  schedule(firstMs);
  return () => clearTimeout(timer);
}
