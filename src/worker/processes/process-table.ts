import type { Stopwatch } from '../../support/stopwatch.ts';

/** One process: its number and the moment it started, which together name it for ever. */
export interface ProcessInfo {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Opaque; equal for the same process only. */
  readonly startTime: string;
  readonly zombie: boolean;
  /** What it has used; absent where the table cannot tell. */
  readonly usage?: ProcessUsage | undefined;
}

/** What one process has used. */
export interface ProcessUsage {
  readonly cpuMs: number;
  /** CPU time of the descendants that have ended and were waited for. */
  readonly childrenCpuMs: number;
  readonly residentBytes: number;
  readonly threads: number;
}

/** The process at the root of a job's tree. */
export interface TreeRoot {
  readonly pid: number;
  readonly startTime: string | null;
  /** `NAME=value` in the environment of everything that the job started; null where nothing has to be found by it. */
  readonly marker: string | null;
  /** How long it has existed. */
  readonly elapsed: Stopwatch;
}

/** What can be asked of the machine's processes. Implemented on /proc, and on `ps` elsewhere. */
export interface ProcessTable {
  readonly name: string;
  /** What this table cannot see, in sentences. */
  readonly gaps: readonly string[];
  /** The start time of a live process; null when there is none with that number; rejects when that cannot be told. */
  startTime(pid: number): Promise<string | null>;
  /** The living members of a job's tree, the root included: by ancestry, process group, session or marker. */
  members(root: TreeRoot): Promise<readonly ProcessInfo[]>;
  /** The living root and what descends from it, at little cost; what starts or ends meanwhile may be missed. */
  descendants(root: Pick<TreeRoot, 'pid' | 'startTime'>): Promise<readonly ProcessInfo[]>;
  /** Living processes that carry a variable with a wanted value, and what descends from them. */
  carriers(variable: string, isWanted: (value: string) => Promise<boolean>): Promise<readonly ProcessInfo[]>;
  /** True when it is certain, at little cost, that the ended root left nothing behind. */
  certainlyEmpty(root: TreeRoot): boolean;
  /** Now, and when a process was started, in units of the table's own that can be compared. */
  moment(): number;
  startMoment(process: ProcessInfo): number;
  /** The name of the program that a process executes, cut to what the system keeps of it; empty when it is gone. */
  nameOf(pid: number): Promise<string>;
  /** A process's command line for people. */
  describe(pid: number): Promise<string>;
}

/** Picks the members of a tree from a list of processes; `marked` tells who carries the root's marker. */
export function selectMembers(
  processes: readonly ProcessInfo[],
  root: TreeRoot,
  marked: (process: ProcessInfo) => boolean,
): readonly ProcessInfo[] {
  const rooted = rootIsStillItself(processes, root);
  const members = new Set<number>();
  for (const process of processes) {
    if ((rooted && isRelated(process, root.pid)) || marked(process)) members.add(process.pid);
  }
  return withDescendants(processes, members);
}

/** The living among some processes of a list and all that descend from them. */
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

// A number is given to another process once nobody uses it as pid, group or session: then it says nothing.
function rootIsStillItself(processes: readonly ProcessInfo[], root: TreeRoot): boolean {
  const holder = processes.find((process) => process.pid === root.pid);
  return holder === undefined || root.startTime === null || holder.startTime === root.startTime;
}

function isRelated(process: ProcessInfo, rootPid: number): boolean {
  return (
    process.pid === rootPid ||
    process.parent === rootPid ||
    process.group === rootPid ||
    process.session === rootPid
  );
}
