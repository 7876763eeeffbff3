import { constants as os } from 'node:os';
import type { JobEnd } from '../../contract/job.ts';
import type { Limits } from '../../contract/limits.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import { formatLimit } from './format-limit.ts';

/** A limit as the cause of a command's end, with a sentence of evidence. */
export type LimitReached = Pick<JobEnd, 'cause' | 'detail'>;

/** Evidence about a command that ended without being stopped by nacre. */
export interface Evidence {
  readonly exit: ProcessExit;
  readonly limits: Limits;
  /** CPU time of the whole tree; `null` if it is not known exactly. */
  readonly cpuMs: number | null;
  readonly largestProcessBytes: number;
  readonly busiestProcessMs: number;
  /** The counters of the tree's cgroup; `null` without one. */
  readonly kernel: KernelCounts | null;
  readonly stderr: string;
}

/** Counters of a cgroup, from `memory.events` and `pids.events`. */
export interface KernelCounts {
  /** Processes that the kernel killed for lack of memory (`oom_kill`). */
  readonly memoryKills: number;
  /** Forks that failed at the limit of processes (`max` in `pids.events`). */
  readonly refusedForks: number;
}

// Messages of common programs and runtimes after ENOMEM, EAGAIN from `fork`, or EFBIG.
const noMemory =
  /MemoryError|Cannot allocate memory|cannot allocate \d+ bytes|std::bad_alloc|[Oo]ut of memory|memory exhausted|ENOMEM|allocation (?:of \d+ bytes )?failed|OutOfMemoryError/;
const noProcess =
  /fork[^\n]{0,200}: (?:retry: )?Resource temporarily unavailable|Cannot fork|can't start new thread|EAGAIN|pthread_create/;
const limitSignals = ['SIGXCPU', 'SIGXFSZ', 'SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGTRAP'] as const;
const noRoom = /File too large|EFBIG|File size limit exceeded/;

/** Finds the limit that ended a command; `null` if none did, or nothing proves it. */
export function explainExit(found: Evidence): LimitReached | null {
  const evidence = { ...found, exit: toSignalled(found.exit) };
  for (const check of [checkCpu, checkFileSize, checkProcesses, checkMemory]) {
    const reached = check(evidence);
    if (reached !== null) return reached;
  }
  return null;
}

/** The cause for a tree in which the kernel killed processes for lack of memory. */
export function treeMemoryExceeded(limitBytes: number, kills: number): LimitReached {
  const processes = kills === 1 ? 'one of its processes' : `${kills} of its processes`;
  const detail = `It needed more than ${formatLimit(limitBytes)} of memory, the limit for all its processes together; the kernel killed ${processes}.`;
  return { cause: 'oom', detail };
}

// RLIMIT_CPU is checked against time counted in ticks; the exact figures can be clearly lower on a busy machine.
const cpuTolerance = 0.5;

function checkCpu({ limits: { cpuSeconds }, exit, cpuMs, busiestProcessMs }: Evidence): LimitReached | null {
  if (cpuSeconds === undefined) return null;
  const { signal } = exit;
  const enoughMs = cpuSeconds * 1_000 * cpuTolerance;
  const isSoft = signal === 'SIGXCPU' && (cpuMs === null || cpuMs >= enoughMs);
  const isHard = signal === 'SIGKILL' && busiestProcessMs >= enoughMs;
  if (!isSoft && !isHard) return null;
  const used = cpuMs === null ? '' : `It used ${(cpuMs / 1_000).toFixed(1)} s of CPU time. `;
  return { cause: 'cpu', detail: `${used}${signal} killed it: a process may use at most ${cpuSeconds} s.` };
}

function checkFileSize({ limits: { fileBytes }, exit, stderr }: Evidence): LimitReached | null {
  if (fileBytes === undefined) return null;
  const printed = failed(exit) ? noRoom.exec(stderr)?.[0] : undefined;
  if (exit.signal !== 'SIGXFSZ' && printed === undefined) return null;
  const evidence = exit.signal === 'SIGXFSZ' ? 'SIGXFSZ killed it' : `It printed "${printed}"`;
  return {
    cause: 'file_size',
    detail: `${evidence}: a file that it writes may have at most ${formatLimit(fileBytes)}.`,
  };
}

function checkProcesses({ limits, exit, kernel, stderr }: Evidence): LimitReached | null {
  const { maxProcesses } = limits;
  if (maxProcesses === undefined) return null;
  const limit = `it may have at most ${maxProcesses} processes and threads at one time`;
  const refused = kernel?.refusedForks ?? 0;
  // A command that succeeded nevertheless was limited, not ended: its cause stays `exit`.
  const cause = failed(exit) ? 'processes' : 'exit';
  if (refused > 0)
    return { cause, detail: `The kernel refused to start another process ${toTimes(refused)}: ${limit}.` };
  const printed = kernel || !failed(exit) ? undefined : noProcess.exec(stderr)?.[0];
  return printed === undefined ? null : { cause: 'processes', detail: `It printed "${printed}": ${limit}.` };
}

function checkMemory({ limits, exit, largestProcessBytes, stderr }: Evidence): LimitReached | null {
  const { memoryBytes } = limits;
  if (memoryBytes === undefined || !failed(exit)) return null;
  const limit = `a process may have at most ${formatLimit(memoryBytes)} of memory`;
  const printed = noMemory.exec(stderr)?.[0];
  if (printed !== undefined) return { cause: 'oom', detail: `It printed "${printed}": ${limit}.` };
  if (exit.signal === null || largestProcessBytes < memoryBytes * 0.9) return null;
  const used = `One of its processes had ${formatLimit(largestProcessBytes)} of memory`;
  return { cause: 'oom', detail: `${used} before ${exit.signal} killed it: ${limit}.` };
}

// A shell reports a signal that ended its last command as exit code 128 + n.
function toSignalled(exit: ProcessExit): ProcessExit {
  const signal = limitSignals.find((name) => exit.code === 128 + os.signals[name]);
  return signal === undefined ? exit : { code: null, signal };
}

function toTimes(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

function failed({ code, signal }: ProcessExit): boolean {
  return signal !== null || (code ?? 0) !== 0;
}
