/** Sends a signal to a process; one that has ended by itself needs none. */
export function sendSignal(pid: number | undefined, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(pid, signal);
  } catch {
    // It has ended, or belongs to another user: the next look tells.
  }
}
