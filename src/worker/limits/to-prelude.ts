import type { Limits } from '../../contract/limits.ts';
import { quote } from '../../support/quote.ts';

/** The limits that a shell sets on itself with `ulimit` before it runs a command. */
export interface PreludePlan {
  readonly limits: Limits;
  /** How many of nacre's own processes RLIMIT_NPROC counts with the command's; null if it would count all of the user's. */
  readonly ownProcesses: number | null;
  /** The `cgroup.procs` files to which the shell writes its own pid. */
  readonly cgroupFiles: readonly string[];
}

// Seconds of CPU time between SIGXCPU (soft limit) and SIGKILL (hard limit).
const cpuGraceSeconds = 2;

/** One line of bash that limits the shell and everything it starts with `ulimit`; empty if there is nothing to limit. */
export function toPrelude({ limits, ownProcesses, cgroupFiles }: PreludePlan): string {
  const { memoryBytes, cpuSeconds, fileBytes, maxProcesses } = limits;
  const steps = [
    ...cgroupFiles.map((file) => `echo "$$" >${quote(file)} || exit 125`),
    ...(memoryBytes === undefined ? [] : [limit('d', toKib(memoryBytes))]),
    ...(fileBytes === undefined ? [] : [limit('f', toKib(fileBytes))]),
    ...(maxProcesses === undefined || ownProcesses === null ? [] : [limit('u', maxProcesses + ownProcesses)]),
    ...(cpuSeconds === undefined ? [] : [limit('t', cpuSeconds + cpuGraceSeconds), softCpuLimit(cpuSeconds)]),
  ];
  return steps.join('; ');
}

// If the server's own hard limit is lower, `ulimit` fails and that limit stays.
function limit(option: string, value: number): string {
  return `ulimit -${option} ${value} 2>/dev/null || ulimit -S${option} hard`;
}

function softCpuLimit(seconds: number): string {
  return `ulimit -St ${seconds} 2>/dev/null || :`;
}

function toKib(bytes: number): number {
  return Math.ceil(bytes / 1_024);
}
