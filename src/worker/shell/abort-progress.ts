import { createStopwatch } from '../../support/timing.ts';
import { readOrEmpty } from '../processes/descendants.ts';
import { parseStat } from '../processes/proc-process-table.ts';
import type { ProcessInfo } from '../processes/process-table.ts';
import { abortSignal } from './abort-script.ts';

/** Reads how a process handles `abortSignal`: a shell ignores it while its trap reads the user's traps. */
export function abortHandling(pid: number): 'caught' | 'ignored' | 'neither' {
  const status = readOrEmpty(`/proc/${pid}/status`);
  if (hasAbortBit(status, 'SigCgt')) return 'caught';
  return hasAbortBit(status, 'SigIgn') ? 'ignored' : 'neither';
}

/**
 * True for a subshell of the shell's own trap (`abort-script.ts`). It has inherited from the shell that `abortSignal` is
 * ignored, and the command line, because it executes no other program.
 */
export function isOfAbortTrap({ pid, parent }: ProcessInfo, shell: number): boolean {
  return (
    parent === shell &&
    abortHandling(pid) === 'ignored' &&
    abortHandling(shell) === 'ignored' &&
    readOrEmpty(`/proc/${pid}/cmdline`) === readOrEmpty(`/proc/${shell}/cmdline`)
  );
}

// A shell that sleeps, without a program to wait for, is blocked in a builtin.
const idleMs = 500;
// The event loop of a busy machine may be late: a shell is not idle because one check followed another by `idleMs`.
const idleChecks = 5;
// CPU time that a user's INT trap may use.
const cpuMs = 1_000;
const longestMs = 5_000;

/**
 * Decides how long to wait for a shell whose programs have ended. Elapsed time alone proves nothing: on a busy machine a shell
 * may wait hundreds of milliseconds for a CPU.
 */
export class ShellPatience {
  readonly #shell: number;
  readonly #elapsed = createStopwatch();
  readonly #cpuMsBefore: number;
  #activity = '';
  #idle = createStopwatch();
  #checks = 0;

  constructor(shell: number) {
    this.#shell = shell;
    this.#cpuMsBefore = this.#readCpuMs();
  }

  /** True if the shell is blocked, computes for too long, or has replaced itself with another program. */
  isExhausted(): boolean {
    const status = readOrEmpty(`/proc/${this.#shell}/status`);
    const activity = /^voluntary_ctxt_switches:.*$/m.exec(status)?.[0] ?? '';
    // While the signal is ignored, the shell may wait for a subshell of its trap.
    const isWorking = /^State:\s*[RD]/m.test(status) || hasAbortBit(status, 'SigIgn');
    if (isWorking || activity !== this.#activity) {
      this.#activity = activity;
      this.#idle = createStopwatch();
      this.#checks = 0;
    }
    this.#checks += 1;
    return (
      (this.#idle() >= idleMs && this.#checks > idleChecks) ||
      this.#readCpuMs() - this.#cpuMsBefore >= cpuMs ||
      this.#elapsed() >= longestMs
    );
  }

  #readCpuMs(): number {
    return parseStat(readOrEmpty(`/proc/${this.#shell}/stat`))?.usage?.cpuMs ?? 0;
  }
}

function hasAbortBit(status: string, field: string): boolean {
  const [, mask = '0'] = new RegExp(`^${field}:\\s*([0-9a-f]+)$`, 'm').exec(status) ?? [];
  return ((BigInt(`0x${mask}`) >> BigInt(abortSignal - 1)) & 1n) === 1n;
}
