import { sendSignal } from './process-exit.ts';

const everyMs = 1_000;
const pids = new Set<number>();
let timer: NodeJS.Timeout | undefined;

/**
 * Sends SIGCONT once a second to one of nacre's own processes, until the returned function is called. A command of the same
 * user can stop it with SIGSTOP, and then the end of the command would never be reported. SIGCONT does nothing to a process that
 * is not stopped.
 */
export function continueWhileStopped(pid: number): () => void {
  pids.add(pid);
  timer ??= setInterval(continueAll, everyMs).unref();
  return () => {
    pids.delete(pid);
    if (pids.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

function continueAll(): void {
  for (const pid of pids) sendSignal(pid, 'SIGCONT');
}
