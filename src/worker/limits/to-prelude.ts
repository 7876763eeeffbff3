import type { Limits } from '../../contract/limits.ts';
import { quote } from '../../support/quote.ts';

/** What a shell is to do to itself before it runs a command. */
export interface PreludePlan {
  readonly limits: Limits;
  /** How many processes of ours the kernel counts beside the command's; null where it would count those of others too. */
  readonly ownProcesses: number | null;
  /** The lists of cgroups that the shell is to enter by itself. */
  readonly enter: readonly string[];
}

// Seconds of CPU time between the signal that a program can act on and the one that it cannot.
const lastCpuSeconds = 2;

/** One line of bash that binds the shell, and so everything it starts; empty when there is nothing to bind. */
export function toPrelude({ limits, ownProcesses, enter }: PreludePlan): string {
  const { memoryBytes, cpuSeconds, fileBytes, maxProcesses } = limits;
  const steps = [
    ...enter.map((list) => `echo "$$" >${quote(list)} || exit 125`),
    ...(memoryBytes === undefined ? [] : [set('d', toKib(memoryBytes))]),
    ...(fileBytes === undefined ? [] : [set('f', toKib(fileBytes))]),
    ...(maxProcesses === undefined || ownProcesses === null ? [] : [set('u', maxProcesses + ownProcesses)]),
    ...(cpuSeconds === undefined ? [] : [set('t', cpuSeconds + lastCpuSeconds), soft(cpuSeconds)]),
  ];
  return steps.join('; ');
}

// Where the server itself is held tighter than that, its own limit stays.
function set(option: string, value: number): string {
  return `ulimit -${option} ${value} 2>/dev/null || ulimit -S${option} hard`;
}

function soft(seconds: number): string {
  return `ulimit -St ${seconds} 2>/dev/null || :`;
}

function toKib(bytes: number): number {
  return Math.ceil(bytes / 1_024);
}
