import type { Stopwatch } from '../../support/timing.ts';

/** One process; its pid and start time together identify it even after the pid is reused. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Opaque: ticks with /proc, a date with `ps`; differs if the pid was reused. */
  readonly startTime: string;
  readonly zombie: boolean;
  /** Undefined on systems without /proc. */
  readonly usage?: ProcessUsage | undefined;
}

/** The resource usage of one process. */
export interface ProcessUsage {
  readonly cpuMs: number;
  /** CPU time of descendants that have ended and were reaped. */
  readonly childrenCpuMs: number;
  readonly residentBytes: number;
  readonly threads: number;
}

/** The root process of a job's tree. */
export interface TreeRoot {
  readonly pid: number;
  readonly startTime: string | null;
  /** `NAME=value` in the environment of every process of the job; null if the tree is not searched by it. */
  readonly marker: string | null;
  /** Time since the root was started. */
  readonly elapsed: Stopwatch;
}

/** Queries about the machine's processes; implemented with /proc, or with `ps` where there is no /proc. */
export interface ProcessTable {
  readonly name: string;
  /** Sentences about processes that `members` cannot find. */
  readonly gaps: readonly string[];
  /** The start time of a living process; null if no process has that `pid`; rejects if that cannot be determined. */
  startTime(pid: number): Promise<string | null>;
  /** The living members of a job's tree, root included, found by ancestry, process group, session or marker. */
  members(root: TreeRoot): Promise<readonly ProcessInfo[]>;
  /** Like `members`, but only by ancestry, which is cheap; a process that starts or ends meanwhile may be missed. */
  descendants(root: Pick<TreeRoot, 'pid' | 'startTime'>): Promise<readonly ProcessInfo[]>;
  /** The living processes with an environment variable whose value is wanted, and their descendants. */
  findByVariable(
    variable: string,
    isWanted: (value: string) => Promise<boolean>,
  ): Promise<readonly ProcessInfo[]>;
  /** True if a cheap check proves that the ended root has left no process behind. */
  certainlyEmpty(root: TreeRoot): boolean;
  /** The current time, in the unit of `startMoment`. */
  now(): number;
  /** When a process was started: clock ticks since boot with /proc, seconds with `ps`. */
  startMoment(process: ProcessInfo): number;
  /** The program name of a process (`/proc/PID/comm`), cut to 15 characters; empty if the process is gone. */
  nameOf(pid: number): Promise<string>;
  /** The command line of a process (`/proc/PID/cmdline`), for display. */
  describe(pid: number): Promise<string>;
}

/** Selects the members of a tree from a list of processes; `marked` checks for the root's marker. */
export function selectMembers(
  processes: readonly ProcessInfo[],
  root: TreeRoot,
  marked: (process: ProcessInfo) => boolean,
): readonly ProcessInfo[] {
  const isRooted = isRootPidUnchanged(processes, root);
  const members = new Set<number>();
  for (const process of processes) {
    if ((isRooted && isRelated(process, root.pid)) || marked(process)) members.add(process.pid);
  }
  return withDescendants(processes, members);
}

/** The living processes among `first` and all their descendants in the list. */
export function withDescendants(
  processes: readonly ProcessInfo[],
  first: ReadonlySet<number>,
): readonly ProcessInfo[] {
  const members = new Set(first);
  let size = -1;
  while (size !== members.size) {
    size = members.size;
    for (const process of processes) if (members.has(process.parent)) members.add(process.pid);
  }
  return processes.filter((process) => members.has(process.pid) && !process.zombie);
}

// Once no process uses a number as pid, group or session, the kernel may reuse it for an unrelated process.
function isRootPidUnchanged(processes: readonly ProcessInfo[], root: TreeRoot): boolean {
  const current = processes.find((process) => process.pid === root.pid);
  return current === undefined || root.startTime === null || current.startTime === root.startTime;
}

function isRelated(process: ProcessInfo, rootPid: number): boolean {
  return (
    process.pid === rootPid ||
    process.parent === rootPid ||
    process.group === rootPid ||
    process.session === rootPid
  );
}
