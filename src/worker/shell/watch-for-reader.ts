import {
  type BlockedReader,
  findBlockedReader,
  type InputFile,
  isSameBlock,
} from '../observe/find-blocked-reader.ts';

const againMs = 100;
const longestMs = 4_000;

/**
 * Calls `onReading` when a process at or below `root` is blocked in a read of `pipe`: in two checks in a row, since one
 * could catch a process that is about to continue. The checks become rarer up to every 4 s; the returned function stops them.
 */
export function watchForReader(
  { root, pipe, firstMs }: { readonly root: number; readonly pipe: InputFile; readonly firstMs: number },
  onReading: () => void,
): () => void {
  let seen: BlockedReader | null = null;
  let timer: NodeJS.Timeout | undefined;
  const check = (delayMs: number) => {
    const reader = findBlockedReader(root, pipe);
    if (isSameBlock(reader, seen)) return onReading();
    seen = reader;
    schedule(reader ? againMs : Math.min(delayMs * 2, longestMs));
  };
  const schedule = (delayMs: number) => {
    timer = setTimeout(check, delayMs, delayMs).unref();
  };
  schedule(firstMs);
  return () => clearTimeout(timer);
}
