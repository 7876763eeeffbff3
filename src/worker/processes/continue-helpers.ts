import { sendSignal } from './process-exit.ts';

const everyMs = 1_000;
// After `busyMs` without a new process, SIGCONT is sent only every `rarelyMs`, so that an idle worker does not wake up
// every second.
const busyMs = 60_000;
const rarelyMs = 10_000;
const pids = new Set<number>();
let timer: NodeJS.Timeout | undefined;
let addedAt = 0;

/**
 * Sends SIGCONT regularly to one of nacre's own processes, until the returned function is called. A command of the same
 * user can stop it with SIGSTOP, and then the end of the command would never be reported. SIGCONT does nothing to a process that
 * is not stopped.
 */
export function continueWhileStopped(pid: number): () => void {
  pids.add(pid);
  noteAdded();
  return () => {
    pids.delete(pid);
    if (pids.size === 0) stopTimer();
  };
}

// A timer that is due within `everyMs` is left alone, so that frequent starts do not postpone it.
function noteAdded(): void {
  const isSoon = timer !== undefined && performance.now() - addedAt < busyMs;
  addedAt = performance.now();
  if (isSoon) return;
  stopTimer();
  schedule(everyMs);
}

function stopTimer(): void {
  clearTimeout(timer);
  timer = undefined;
}

function schedule(afterMs: number): void {
  timer = setTimeout(() => {
    for (const pid of pids) sendSignal(pid, 'SIGCONT');
    schedule(performance.now() - addedAt < busyMs ? everyMs : rarelyMs);
  }, afterMs).unref();
}
