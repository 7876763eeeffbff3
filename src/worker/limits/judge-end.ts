import { constants as os } from 'node:os';
import type { JobEnd } from '../../contract/job.ts';
import type { Limits } from '../../contract/limits.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import { toSize } from './to-size.ts';

/** A limit as the cause of an end, with what shows it. */
export type LimitReached = Pick<JobEnd, 'cause' | 'detail'>;

/** What is known of a command that has ended by itself. */
export interface Evidence {
  readonly exit: ProcessExit;
  readonly limits: Limits;
  /** CPU time of the whole tree; null when it is not known exactly. */
  readonly cpuMs: number | null;
  /** The most memory that one process was seen with. */
  readonly largestProcessBytes: number;
  /** The most CPU time that one process was seen with. */
  readonly busiestProcessMs: number;
  /** What the kernel counted for the whole tree; null where it did not. */
  readonly kernel: KernelCounts | null;
  /** The end of its stderr. */
  readonly stderr: string;
}

/** What a cgroup counts. */
export interface KernelCounts {
  /** Processes that were ended for want of memory. */
  readonly memoryKills: number;
  /** Processes that were not started for want of room. */
  readonly refusedForks: number;
}

// Programs say it in these words when the system gives them no memory, no process or no room in a file.
const noMemory =
  /MemoryError|Cannot allocate memory|cannot allocate \d+ bytes|std::bad_alloc|[Oo]ut of memory|memory exhausted|ENOMEM|allocation (?:of \d+ bytes )?failed|OutOfMemoryError/;
const noProcess =
  /fork[^\n]*: (?:retry: )?Resource temporarily unavailable|Cannot fork|can't start new thread|EAGAIN|pthread_create/;
const limitSignals = ['SIGXCPU', 'SIGXFSZ', 'SIGKILL', 'SIGABRT', 'SIGSEGV', 'SIGTRAP'] as const;
const noRoom = /File too large|EFBIG|File size limit exceeded/;

/** Tells which limit ended a command, by evidence only; null when none did, or nothing shows it. */
export function judgeEnd(known: Evidence): LimitReached | null {
  const evidence = { ...known, exit: toSignalled(known.exit) };
  for (const judge of [usedUpCpu, filledFile, refusedProcess, refusedMemory]) {
    const reached = judge(evidence);
    if (reached !== null) return reached;
  }
  return null;
}

/** The sentence on a tree that the kernel ended for its memory. */
export function overTreeMemory(limitBytes: number, kills: number): LimitReached {
  const processes = kills === 1 ? 'a process of it' : `${kills} processes of it`;
  const detail = `It needed more than ${toSize(limitBytes)} of memory, the limit for all its processes together; the kernel ended ${processes}.`;
  return { cause: 'oom', detail };
}

// The kernel counts for the limit in ticks and for the figures exactly, which on a busy machine is clearly less.
const roughly = 0.5;

function usedUpCpu({ limits: { cpuSeconds }, exit, cpuMs, busiestProcessMs }: Evidence): LimitReached | null {
  if (cpuSeconds === undefined) return null;
  const { signal } = exit;
  const enoughMs = cpuSeconds * 1_000 * roughly;
  const isSoft = signal === 'SIGXCPU' && (cpuMs === null || cpuMs >= enoughMs);
  const isHard = signal === 'SIGKILL' && busiestProcessMs >= enoughMs;
  if (!isSoft && !isHard) return null;
  const used = cpuMs === null ? '' : `It used ${(cpuMs / 1_000).toFixed(1)} s of CPU time. `;
  return { cause: 'cpu', detail: `${used}${signal} ended it: a process may use ${cpuSeconds} s.` };
}

function filledFile({ limits: { fileBytes }, exit, stderr }: Evidence): LimitReached | null {
  if (fileBytes === undefined) return null;
  const said = failed(exit) ? noRoom.exec(stderr)?.[0] : undefined;
  if (exit.signal !== 'SIGXFSZ' && said === undefined) return null;
  const sign = exit.signal === 'SIGXFSZ' ? 'SIGXFSZ ended it' : `It said "${said}"`;
  return { cause: 'file_size', detail: `${sign}: a file that it writes may have ${toSize(fileBytes)}.` };
}

function refusedProcess({ limits, exit, kernel, stderr }: Evidence): LimitReached | null {
  const { maxProcesses } = limits;
  if (maxProcesses === undefined) return null;
  const limit = `it may have ${maxProcesses} processes and threads at one time`;
  const refused = kernel?.refusedForks ?? 0;
  // One that came to a good end all the same was held, not ended.
  const cause = failed(exit) ? 'processes' : 'exit';
  if (refused > 0)
    return { cause, detail: `The kernel refused it another process ${toTimes(refused)}: ${limit}.` };
  const said = kernel || !failed(exit) ? undefined : noProcess.exec(stderr)?.[0];
  return said === undefined ? null : { cause: 'processes', detail: `It said "${said}": ${limit}.` };
}

function refusedMemory({ limits, exit, largestProcessBytes, stderr }: Evidence): LimitReached | null {
  const { memoryBytes } = limits;
  if (memoryBytes === undefined || !failed(exit)) return null;
  const limit = `a process may have ${toSize(memoryBytes)} of memory`;
  const said = noMemory.exec(stderr)?.[0];
  if (said !== undefined) return { cause: 'oom', detail: `It said "${said}": ${limit}.` };
  if (exit.signal === null || largestProcessBytes < memoryBytes * 0.9) return null;
  const used = `A process of it had ${toSize(largestProcessBytes)} of memory`;
  return { cause: 'oom', detail: `${used} before ${exit.signal} ended it: ${limit}.` };
}

// A shell tells of a signal that ended its last command by a code.
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
