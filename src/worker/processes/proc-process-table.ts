import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { setImmediate as breathe } from 'node:timers/promises';
import { descendantsOf } from './descendants.ts';
import {
  type ProcessInfo,
  type ProcessTable,
  type ProcessUsage,
  selectMembers,
  type TreeRoot,
  withDescendants,
} from './process-table.ts';
import { systemUnits } from './system-units.ts';

const batch = 256;

/**
 * The process table of Linux, read from /proc. Numbers are handed out in ascending order, so what a young job
 * started has a higher number than the job's own process until the counter wraps; only those are looked at. An older
 * job may have seen the counter go all the way round, and then only the time of a start tells.
 */
export function createProcProcessTable(): ProcessTable {
  const turnMs = shortestTurnMs();
  const sinceBoot = createClock();
  // Some kernels are built without these lists.
  const hasChildren = readOrNull(`/proc/self/task/${process.pid}/children`) !== null;
  return {
    name: '/proc',
    gaps: [
      'A command that clears its environment and leaves its session is not found again.',
      'Commands of a server that was itself killed (SIGKILL) live on until the next server starts.',
    ],
    startTime: async (pid) => toStartTime(parseStat(readIfThere(`/proc/${pid}/stat`))),
    members: async (root) => {
      const pids = listPids();
      const candidates = root.elapsed() < turnMs ? pids.filter(startedAfter(root.pid, lastPid())) : pids;
      const processes = (await readAll(candidates, readStat)).filter((process) => !isOlder(process, root));
      return selectMembers(processes, root, (process) => carriesMarker(process.pid, root.marker));
    },
    async descendants(root) {
      const pids = hasChildren ? [root.pid, ...descendantsOf(root.pid)] : listPids();
      const found = await readAll(pids, readStat);
      const known = found.find(({ pid }) => pid === root.pid);
      const isItself = root.startTime === null || known?.startTime === root.startTime;
      return isItself ? withDescendants(found, new Set([root.pid])) : [];
    },
    async carriers(variable, isWanted) {
      const pids = listPids();
      const found = await readAll(pids, (pid) => readVariable(pid, variable));
      const values = new Set(found.map(({ value }) => value));
      const wanted = new Set<string>();
      for (const value of values) if (await isWanted(value)) wanted.add(value);
      if (wanted.size === 0) return [];
      const carriers = found.filter(({ value }) => wanted.has(value)).map(({ pid }) => pid);
      return withDescendants(await readAll(pids, readStat), new Set(carriers));
    },
    certainlyEmpty: (root) => lastPid() === root.pid,
    moment: () => Math.floor(sinceBoot() * systemUnits().ticksPerSecond),
    startMoment: ({ startTime }) => Number(startTime),
    nameOf: async (pid) => readOrNull(`/proc/${pid}/comm`)?.trim() ?? '',
    describe: async (pid) => describe(pid),
  };
}

const clockMs = 1_000;

/**
 * Seconds since the machine was started. The kernel is asked once a second, since it writes a text each time; never ahead
 * of it, also when the machine has slept in between.
 */
function createClock(): () => number {
  let started = 0;
  let asked = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - asked > clockMs) {
      const told = uptime();
      asked = performance.now();
      started = told - asked / 1_000;
    }
    return started + performance.now() / 1_000;
  };
}

async function readAll<T>(pids: readonly number[], read: (pid: number) => T | null): Promise<T[]> {
  const found: T[] = [];
  for (const [index, pid] of pids.entries()) {
    if (index % batch === batch - 1) await breathe();
    const one = read(pid);
    if (one !== null) found.push(one);
  }
  return found;
}

function toStartTime(process: ProcessInfo | null): string | null {
  return process === null || process.zombie ? null : process.startTime;
}

/** Tells which numbers may have been handed out since `first`, given the last one handed out. */
export function startedAfter(first: number, last: number): (pid: number) => boolean {
  return last >= first ? (pid) => pid >= first && pid <= last : (pid) => pid >= first || pid <= last;
}

/** Reads the fields of a /proc/PID/stat line; the name in parentheses may itself hold anything. */
export function parseStat(line: string): ProcessInfo | null {
  const close = line.lastIndexOf(')');
  const fields = line.slice(close + 2).split(' ');
  const [state, threads, startTime] = [fields[0], Number(fields[17]), fields[19]];
  if (close < 0 || startTime === undefined) return null;
  return {
    pid: Number.parseInt(line, 10),
    parent: Number(fields[1]),
    group: Number(fields[2]),
    session: Number(fields[3]),
    startTime,
    // A process whose first thread has ended looks like a zombie although its other threads go on.
    zombie: (state === 'Z' || state === 'X') && threads <= 1,
    usage: toUsage(fields, threads),
  };
}

function toUsage(fields: readonly string[], threads: number): ProcessUsage {
  const { ticksPerSecond, pageBytes } = systemUnits();
  const toMs = (ticks: number) => (ticks * 1_000) / ticksPerSecond;
  return {
    cpuMs: toMs(Number(fields[11]) + Number(fields[12])),
    childrenCpuMs: toMs(Number(fields[13]) + Number(fields[14])),
    residentBytes: Number(fields[21]) * pageBytes,
    threads,
  };
}

function isOlder(process: ProcessInfo, root: TreeRoot): boolean {
  return root.startTime !== null && Number(process.startTime) < Number(root.startTime);
}

// How soon all numbers can have been handed out once, on a machine that starts 64 processes or threads in each ms.
function shortestTurnMs(): number {
  return Number(readOrNull('/proc/sys/kernel/pid_max') ?? 32_768) / 64;
}

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

// NaN when it cannot be told; then no number is ruled out and nothing is certain.
function lastPid(): number {
  const text = readOrNull('/proc/loadavg') ?? 'unknown';
  return Number(text.slice(text.lastIndexOf(' ') + 1));
}

function readStat(pid: number): ProcessInfo | null {
  const line = readOrNull(`/proc/${pid}/stat`);
  return line === null ? null : parseStat(line);
}

function readVariable(pid: number, name: string): { pid: number; value: string } | null {
  const pair = readOrNull(`/proc/${pid}/environ`)
    ?.split('\0')
    .find((one) => one.startsWith(`${name}=`));
  return pair === undefined ? null : { pid, value: pair.slice(name.length + 1) };
}

// An empty marker would stand in every environment.
function carriesMarker(pid: number, marker: string | null): boolean {
  if (marker === null || marker === '') return false;
  const environment = readOrNull(`/proc/${pid}/environ`);
  return environment?.split('\0').includes(marker) ?? false;
}

function describe(pid: number): string {
  const commandLine = readOrNull(`/proc/${pid}/cmdline`)?.split('\0').join(' ').trim();
  return commandLine || readOrNull(`/proc/${pid}/comm`)?.trim() || `process ${pid}`;
}

// A process that is gone has no file (or one that cannot be read any more); other errors say nothing about it.
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
