import { readFileSync } from 'node:fs';
import type { Limits, Resources } from '../../contract/limits.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import type { ProcessInfo } from '../processes/process-table.ts';
import type { ProcessTree, TreeView } from '../processes/process-tree.ts';
import type { Cgroup } from './cgroups.ts';
import { judgeEnd, type LimitReached, overTreeMemory } from './judge-end.ts';
import { isUnlimited } from './merge-limits.ts';
import { toSize } from './to-size.ts';

/** What a watch is made of. */
export interface WatchMeans {
  readonly limits: Limits;
  readonly tree: ProcessTree;
  /** The cgroup that holds the whole tree, where there is one. */
  readonly group: Cgroup | null;
  /** CPU time of what has ended, where somebody above the command counts it; asked once the command has ended. */
  endedCpuMs(): number | null;
  onRelease(): void;
}

/** Watches over what one command uses. */
export interface Watch {
  /** Starts looking; `onReached` is called once when the tree is above a limit that nobody else enforces. */
  begin(onReached: (reached: LimitReached) => void): void;
  resources(): Resources;
  /** Takes in what somebody else has just seen of the tree. */
  note(view: TreeView): void;
  /** Tells which limit ended a command that has ended by itself; null when none did. */
  judge(exit: ProcessExit, stderr: () => Promise<string>): Promise<LimitReached | null>;
  /** Stops looking. */
  end(): void;
  /** Lets go of what held the tree, once nothing of it is left. */
  release(): void;
}

// Most commands end before the first look and cost nothing.
const firstLookMs = 150;
const longestMs = 1_000;
// A tree that has used no processor for long is most likely to use none until the next look; one that has just begun to wait
// may be at work again in a second.
const longestIdleMs = 8_000;
const idleFactor = 1 / 8;
// Where looking is all that holds a limit, it is done more often.
const guardingMs = 50;
// Looking at thousands of processes takes long: it may have this part of the time.
const restFactor = 8;
const mostPeaks = 8;
const mostTraffic = 256;

/** Looks at a command's processes from time to time while it runs. */
export function createWatch({ limits, tree, group, endedCpuMs, onRelease }: WatchMeans): Watch {
  const seen = {
    cpuMs: -1,
    peakBytes: 0,
    processes: -1,
    largestBytes: 0,
    busiestMs: 0,
    read: -1,
    written: -1,
  };
  const guarded = guardedLimits(limits, group);
  const isGuarding = guarded.maxProcesses !== undefined || guarded.treeMemoryBytes !== undefined;
  let timer: NodeJS.Timeout | undefined;
  let over = false;
  let idleMs = 0;

  const note = (view: TreeView) => {
    if (view.commandProcesses.every(({ usage }) => usage === undefined)) return;
    const peaks = largest(view.commandProcesses).map(({ pid, usage }) =>
      Math.max(readPeak(pid), usage?.residentBytes ?? 0),
    );
    seen.largestBytes = Math.max(seen.largestBytes, ...peaks);
    seen.peakBytes = Math.max(seen.peakBytes, seen.largestBytes, sum(view.commandProcesses, residentBytes));
    seen.cpuMs = Math.max(
      seen.cpuMs,
      sum(view.commandProcesses, wholeCpuMs) + sum(view.ownProcesses, childrenCpuMs),
    );
    seen.busiestMs = Math.max(seen.busiestMs, ...view.commandProcesses.map(({ usage }) => usage?.cpuMs ?? 0));
    const traffic = readTraffic(view.commandProcesses);
    seen.read = Math.max(seen.read, traffic.read);
    seen.written = Math.max(seen.written, traffic.written);
    seen.processes = Math.max(seen.processes, view.commandProcesses.length);
  };
  const kernelReached = (): LimitReached | null => {
    const { treeMemoryBytes } = limits;
    const kills = group?.counts().memoryKills ?? 0;
    if (treeMemoryBytes === undefined || kills === 0) return null;
    // It came to the limit between two looks.
    seen.peakBytes = Math.max(seen.peakBytes, treeMemoryBytes);
    return overTreeMemory(treeMemoryBytes, kills);
  };
  const look = async (onReached: (reached: LimitReached) => void) => {
    const view = await tree.sample().catch(() => null);
    if (over || view === null) return;
    note(view);
    const reached = kernelReached() ?? overLimit(view, guarded);
    if (reached === null) return;
    over = true;
    onReached(reached);
  };
  const plan = (afterMs: number, onReached: (reached: LimitReached) => void) => {
    timer = setTimeout(async () => {
      const elapsed = createStopwatch();
      const { cpuMs, processes } = seen;
      await look(onReached);
      idleMs = seen.cpuMs === cpuMs && seen.processes === processes ? idleMs + afterMs : 0;
      const longest = Math.max(longestMs, Math.min(idleMs * idleFactor, longestIdleMs));
      const next = isGuarding ? guardingMs : Math.min(afterMs * 1.5, longest);
      if (!over) plan(Math.max(next, elapsed() * restFactor), onReached);
    }, afterMs).unref();
  };

  const resources = (): Resources => ({
    cpuMs: orNull(Math.round(Math.max(seen.cpuMs, endedCpuMs() ?? -1))),
    peakMemoryBytes: seen.peakBytes || null,
    processes: orNull(seen.processes),
    readBytes: orNull(seen.read),
    writtenBytes: orNull(seen.written),
  });

  return {
    begin: (onReached) => plan(isGuarding ? guardingMs : firstLookMs, onReached),
    resources,
    note,
    async judge(exit, stderr) {
      if (isUnlimited(limits)) return null;
      const most = { largestProcessBytes: seen.largestBytes, busiestProcessMs: seen.busiestMs };
      const killed = kernelReached();
      if (killed !== null) return killed;
      const kernel = group?.counts() ?? null;
      return judgeEnd({ exit, limits, cpuMs: endedCpuMs(), ...most, kernel, stderr: await stderr() });
    },
    end() {
      over = true;
      clearTimeout(timer);
    },
    release: onRelease,
  };
}

// What the kernel holds for the whole tree needs no guard.
function guardedLimits({ maxProcesses, treeMemoryBytes }: Limits, group: Cgroup | null): Limits {
  return {
    maxProcesses: group?.holds.processes ? undefined : maxProcesses,
    treeMemoryBytes: group?.holds.memory ? undefined : treeMemoryBytes,
  };
}

function overLimit({ commandProcesses }: TreeView, limits: Limits): LimitReached | null {
  const { maxProcesses = Infinity, treeMemoryBytes = Infinity } = limits;
  const tasks = sum(commandProcesses, ({ usage }) => usage?.threads ?? 1);
  if (tasks > maxProcesses) {
    const detail = `It had ${tasks} processes and threads at one time, above the limit of ${maxProcesses}.`;
    return { cause: 'processes', detail };
  }
  if (sum(commandProcesses, residentBytes) <= treeMemoryBytes) return null;
  const bytes = sum(commandProcesses, ({ pid, usage }) => readShare(pid) ?? usage?.residentBytes ?? 0);
  if (bytes <= treeMemoryBytes) return null;
  const detail = `Its processes used ${toSize(bytes)} of memory together, above the limit of ${toSize(treeMemoryBytes)}.`;
  return { cause: 'oom', detail };
}

function largest(processes: readonly ProcessInfo[], most = mostPeaks): readonly ProcessInfo[] {
  return [...processes].sort((one, other) => residentBytes(other) - residentBytes(one)).slice(0, most);
}

function residentBytes({ usage }: ProcessInfo): number {
  return usage?.residentBytes ?? 0;
}

function wholeCpuMs({ usage }: ProcessInfo): number {
  return (usage?.cpuMs ?? 0) + (usage?.childrenCpuMs ?? 0);
}

function childrenCpuMs({ usage }: ProcessInfo): number {
  return usage?.childrenCpuMs ?? 0;
}

function sum(processes: readonly ProcessInfo[], figure: (process: ProcessInfo) => number): number {
  return processes.reduce((total, process) => total + figure(process), 0);
}

function orNull(value: number): number | null {
  return value < 0 ? null : value;
}

/** What processes read and wrote, those that they waited for included; -1 where nobody may look. */
function readTraffic(processes: readonly ProcessInfo[]): { read: number; written: number } {
  const counts = largest(processes, mostTraffic).flatMap(({ pid }) => readCounts(pid) ?? []);
  if (counts.length === 0) return { read: -1, written: -1 };
  return {
    read: counts.reduce((total, { read }) => total + read, 0),
    written: counts.reduce((total, { written }) => total + written, 0),
  };
}

function readCounts(pid: number): { read: number; written: number } | null {
  try {
    const [, read, written] =
      /^rchar: (\d+)\nwchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1')) ?? [];
    return read === undefined ? null : { read: Number(read), written: Number(written) };
  } catch {
    return null;
  }
}

/** The most memory that a process has ever had resident. */
function readPeak(pid: number): number {
  return readKib(`/proc/${pid}/status`, /^VmHWM:\s+(\d+) kB$/m) ?? 0;
}

/** The memory that would be free without this process: what it shares with others counts in parts. */
function readShare(pid: number): number | null {
  const path = `/proc/${pid}/smaps_rollup`;
  const anonymous = readKib(path, /^Pss_Anon:\s+(\d+) kB$/m);
  return anonymous === null ? null : anonymous + (readKib(path, /^Pss_Shmem:\s+(\d+) kB$/m) ?? 0);
}

function readKib(path: string, pattern: RegExp): number | null {
  try {
    const [, kib] = pattern.exec(readFileSync(path, 'latin1')) ?? [];
    return kib === undefined ? null : Number(kib) * 1_024;
  } catch {
    return null;
  }
}
