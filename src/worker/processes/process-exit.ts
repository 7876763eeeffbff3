import { constants as os } from 'node:os';
import type { StopOptions } from '../../contract/backend.ts';

/** How a process ended: with an exit code, or by a signal. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** True if the process that would have reported the end is gone, so that the end is not known. */
  readonly isLost?: true;
}

/** The end of a process whose exit status is unknown. */
export const lostExit: ProcessExit = { code: null, signal: null, isLost: true };

// `os.signals` has two names for some numbers (SIGIOT, SIGABRT); reversed, so that the first and usual name wins.
const signalNames = new Map(
  Object.entries(os.signals)
    .reverse()
    .map(([name, number]) => [number, name as NodeJS.Signals] as const),
);

/** Converts a shell's exit status, in which 128+N means that signal N killed the process. */
export function toExit(status: number): ProcessExit {
  const signal = signalNames.get(status - 128);
  return signal === undefined ? { code: status, signal: null } : { code: null, signal };
}

/** Converts a status as from wait(2): the exit code in the second byte, or a signal in the first. */
export function fromWaitStatus(status: number): ProcessExit {
  const signal = status & 0x7f;
  return signal === 0 ? { code: status >> 8, signal: null } : toExit(128 + signal);
}

/** Converts the end of a process to the status that a shell would report: 128+N for signal N. */
export function toExitStatus({ code, signal }: ProcessExit): number {
  return signal ? 128 + os.signals[signal] : (code ?? 0);
}

/** Calls `process.kill`; does nothing if the process has already ended. */
export function sendSignal(pid: number | undefined, signal: NodeJS.Signals | number): void {
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
