import type { StopOptions } from '../../contract/backend.ts';

/** Calls `process.kill`; does nothing if the process has already ended. */
export function sendSignal(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // ESRCH or EPERM: the caller lists the processes again and finds out which.
  }
}

/** The signals to send before SIGKILL, each followed by one grace period. */
export function politeSignals(first: StopOptions['signal']): readonly ('SIGINT' | 'SIGTERM')[] {
  if (first === 'SIGINT') return ['SIGINT', 'SIGTERM'];
  return first === 'SIGTERM' ? ['SIGTERM'] : [];
}
