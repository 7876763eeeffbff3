import { findReader, type InputFile, isSameSleep, type Reader } from '../look/find-reader.ts';

const firstMs = 500;
const againMs = 100;
const longestMs = 4_000;

/**
 * Calls back when somebody at or below a process sleeps until there is more to read from a pipe: seen twice, so that it
 * is not only on its way. Looks less and less often; what is returned ends that.
 */
export function watchForWaiting(root: number, pipe: InputFile, onWaiting: () => void): () => void {
  let seen: Reader | null = null;
  let timer: NodeJS.Timeout | undefined;
  const look = (delayMs: number) => {
    const reader = findReader(root, pipe);
    if (isSameSleep(reader, seen)) return onWaiting();
    seen = reader;
    wait(reader ? againMs : Math.min(delayMs * 2, longestMs));
  };
  const wait = (delayMs: number) => {
    timer = setTimeout(look, delayMs, delayMs).unref();
  };
  wait(firstMs);
  return () => clearTimeout(timer);
}
