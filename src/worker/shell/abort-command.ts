import type { StopOptions } from '../../contract/backend.ts';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { sendSignal } from '../processes/process-exit.ts';
import type { ProcessInfo } from '../processes/process-table.ts';
import { abortHandling, isOfAbortTrap, ShellPatience } from './abort-progress.ts';
import { abortSignal } from './abort-script.ts';
import { isSubstitution } from './is-substitution.ts';

/** The command that `abortCommand` ends. */
export interface RunningInShell {
  /** The living processes of the command, without its shell. */
  find(): Promise<readonly ProcessInfo[]>;
  /** True once the shell has reported the end of the command. */
  isOver(): boolean;
}

// How long a program may take to disappear after SIGKILL.
const killMs = 500;

/**
 * Makes a shell abort its command and keep its state, as Ctrl-C does at a prompt: its programs get SIGINT and, where they
 * ignore it, SIGTERM and SIGKILL; the shell runs its own INT trap, and skips what follows. Returns false if the shell does not
 * report the end: it has replaced itself with `exec`, has reset the trap, or is blocked in a builtin.
 */
export async function abortCommand(
  shell: number,
  { find, isOver }: RunningInShell,
  { graceMs }: StopOptions,
): Promise<boolean> {
  if (abortHandling(shell) !== 'caught') return false;
  const findPrograms = async () =>
    (await find()).filter((one) => one.pid !== shell && !isOfAbortTrap(one, shell));
  const isDone = async (limitMs: number, onLeft: (process: ProcessInfo) => void = () => {}) => {
    const elapsed = createStopwatch();
    const patience = new ShellPatience(shell);
    for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, 50)) {
      const left = await findPrograms();
      if (left.length === 0 && isOver()) return true;
      if (left.length === 0 ? patience.isExhausted() : elapsed() >= limitMs) return false;
      for (const one of left) onLeft(one);
      await sleep(delayMs);
    }
  };

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    // The shell gets `abortSignal` first, so that no further step begins when the running program has ended. It is
    // repeated later, but not soon: a second signal ends the user's own INT trap, which may be the reason for the
    // delay.
    if (!isOver() && abortHandling(shell) === 'caught') sendSignal(shell, abortSignal);
    const programs = await findPrograms();
    for (const one of programs) sendSignal(one.pid, isSubstitution(one, shell) ? 'SIGTERM' : signal);
    for (const { pid } of [...programs, { pid: shell }]) sendSignal(pid, 'SIGCONT');
    if (await isDone(graceMs / 2)) return true;
  }
  return isDone(killMs, ({ pid }) => sendSignal(pid, 'SIGKILL'));
}
