import { readFileSync } from 'node:fs';
import type { Resources } from '../../contract/limits.ts';
import type { ProcessInfo } from '../processes/process-table.ts';
import type { TreeView } from '../processes/process-tree.ts';

// Files in /proc are read for the largest processes only.
const maxStatusReads = 8;
const maxIoReads = 256;

/** The highest figures seen for the processes of a command; -1 for a figure that was never measured. */
export class PeakUsage {
  cpuMs = -1;
  processes = -1;
  largestProcessBytes = 0;
  busiestProcessMs = 0;
  #memoryBytes = 0;
  #readBytes = -1;
  #writtenBytes = -1;

  record({ commandProcesses, ownProcesses }: TreeView): void {
    if (commandProcesses.every(({ usage }) => usage === undefined)) return;
    const peaks = largest(commandProcesses, maxStatusReads).map(peakBytes);
    this.largestProcessBytes = Math.max(this.largestProcessBytes, ...peaks);
    this.raiseMemory(Math.max(this.largestProcessBytes, residentBytes(commandProcesses)));
    const cpuMs = sum(commandProcesses, totalCpuMs) + sum(ownProcesses, childrenCpuMs);
    this.cpuMs = Math.max(this.cpuMs, cpuMs);
    this.busiestProcessMs = Math.max(
      this.busiestProcessMs,
      ...commandProcesses.map(({ usage }) => usage?.cpuMs ?? 0),
    );
    const io = readIo(commandProcesses);
    this.#readBytes = Math.max(this.#readBytes, io.read);
    this.#writtenBytes = Math.max(this.#writtenBytes, io.written);
    this.processes = Math.max(this.processes, commandProcesses.length);
  }

  /** Raises the peak memory to at least `bytes`. */
  raiseMemory(bytes: number): void {
    this.#memoryBytes = Math.max(this.#memoryBytes, bytes);
  }

  /** The figures so far; `null` for those that were never measured. */
  toResources(endedCpuMs: number | null): Resources {
    return {
      cpuMs: orNull(Math.round(Math.max(this.cpuMs, endedCpuMs ?? -1))),
      peakMemoryBytes: this.#memoryBytes || null,
      processes: orNull(this.processes),
      readBytes: orNull(this.#readBytes),
      writtenBytes: orNull(this.#writtenBytes),
    };
  }
}

/** Resident memory (RSS) of all processes, from `usage`; shared pages count once for each process. */
export function residentBytes(processes: readonly ProcessInfo[]): number {
  return sum(processes, ({ usage }) => usage?.residentBytes ?? 0);
}

/** Memory of all processes, from /proc/PID/smaps_rollup; each shared page counts once. */
export function proportionalBytes(processes: readonly ProcessInfo[]): number {
  return sum(processes, ({ pid, usage }) => readPss(pid) ?? usage?.residentBytes ?? 0);
}

/** Processes and their threads; a process without `usage` counts as one. */
export function threadCount(processes: readonly ProcessInfo[]): number {
  return sum(processes, ({ usage }) => usage?.threads ?? 1);
}

function largest(processes: readonly ProcessInfo[], count: number): readonly ProcessInfo[] {
  const bytes = ({ usage }: ProcessInfo) => usage?.residentBytes ?? 0;
  return [...processes].sort((one, other) => bytes(other) - bytes(one)).slice(0, count);
}

function peakBytes({ pid, usage }: ProcessInfo): number {
  const highWaterMark = readKib(`/proc/${pid}/status`, /^VmHWM:\s+(\d+) kB$/m) ?? 0;
  return Math.max(highWaterMark, usage?.residentBytes ?? 0);
}

function totalCpuMs({ usage }: ProcessInfo): number {
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

interface IoBytes {
  readonly read: number;
  readonly written: number;
}

/** Bytes that processes and their waited-for children read and wrote; -1 if /proc/PID/io is not readable. */
function readIo(processes: readonly ProcessInfo[]): IoBytes {
  const all = largest(processes, maxIoReads).flatMap(({ pid }) => tryReadIo(pid) ?? []);
  if (all.length === 0) return { read: -1, written: -1 };
  return {
    read: all.reduce((total, { read }) => total + read, 0),
    written: all.reduce((total, { written }) => total + written, 0),
  };
}

function tryReadIo(pid: number): IoBytes | null {
  try {
    const [, read, written] =
      /^rchar: (\d+)\nwchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'latin1')) ?? [];
    return read === undefined ? null : { read: Number(read), written: Number(written) };
  } catch {
    return null;
  }
}

/** Proportional set size (`Pss`): each shared page counts in part for every process that maps it. */
function readPss(pid: number): number | null {
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
