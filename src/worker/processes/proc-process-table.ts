import { readdirSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { descendantsOf } from './descendants.ts';
import {
  type ProcessInfo,
  type ProcessTable,
  type ProcessUsage,
  selectMembers,
  type TreeRoot,
  withDescendants,
} from './process-table.ts';

const batch = 256;

/**
 * Makes the process table of Linux, read from /proc. The kernel assigns pids in ascending order, so the processes of a
 * young job have higher pids than its root until the counter wraps, and `members` reads only those. For an older job
 * the counter may have wrapped completely; then all pids are read and start times decide.
 */
export function createProcProcessTable(): ProcessTable {
  const wrapMs = shortestWrapMs();
  const sinceBoot = createUptimeClock();
  // Kernels without CONFIG_PROC_CHILDREN have no `children` files.
  const hasChildren = readOrNull(`/proc/self/task/${process.pid}/children`) !== null;
  return {
    name: '/proc',
    gaps: ['A process that clears its environment and leaves its session cannot be found.'],
    startTime: async (pid) => toStartTime(parseStat(readIfThere(`/proc/${pid}/stat`))),
    members: async (root) => {
      const pids = listPids();
      const candidates = root.elapsed() < wrapMs ? pids.filter(startedAfter(root.pid, lastPid())) : pids;
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
    async findByVariable(variable, isWanted) {
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
    now: () => Math.floor(sinceBoot() * systemUnits().ticksPerSecond),
    startMoment: ({ startTime }) => Number(startTime),
    nameOf: async (pid) => readOrNull(`/proc/${pid}/comm`)?.trim() ?? '',
    describe: async (pid) => describe(pid),
  };
}

const clockMs = 1_000;

/**
 * Returns the seconds since boot. `uptime()` parses /proc/uptime, so it is called at most once a second; the result is
 * never ahead of the kernel's clock, even after a suspend.
 */
function createUptimeClock(): () => number {
  let started = 0;
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - readAt > clockMs) {
      const seconds = uptime();
      readAt = performance.now();
      started = seconds - readAt / 1_000;
    }
    return started + performance.now() / 1_000;
  };
}

async function readAll<T>(pids: readonly number[], read: (pid: number) => T | null): Promise<T[]> {
  const found: T[] = [];
  for (const [index, pid] of pids.entries()) {
    if (index % batch === batch - 1) await yieldToEventLoop();
    const one = read(pid);
    if (one !== null) found.push(one);
  }
  return found;
}

function toStartTime(process: ProcessInfo | null): string | null {
  return process === null || process.zombie ? null : process.startTime;
}

/** Returns a filter for pids that may have been assigned since `first`, given the last assigned pid. */
export function startedAfter(first: number, last: number): (pid: number) => boolean {
  return last >= first ? (pid) => pid >= first && pid <= last : (pid) => pid >= first || pid <= last;
}

/** Parses a /proc/PID/stat line; the name in parentheses may contain any character, `)` included. */
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
    // A process whose main thread has exited has state Z although its other threads keep running.
    zombie: (state === 'Z' || state === 'X') && threads <= 1,
    usage: toUsage(fields, threads),
  };
}

// PF_EXITING in `flags`, and SIGKILL in the bit mask of pending signals.
const exitingFlag = 4;
const pendingKill = 1 << 8;

/** True if a line of `/proc/PID/stat` is that of a process that is exiting or has been sent SIGKILL. */
export function isDying(line: string): boolean {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const [state = '', flags, pending] = [fields[0], Number(fields[6]), Number(fields[28])];
  return 'ZX'.includes(state) ? state !== '' : Boolean(flags & exitingFlag || pending & pendingKill);
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

// The shortest time in which pids can wrap at `pid_max`, assuming 64 new processes or threads per millisecond.
function shortestWrapMs(): number {
  return Number(readOrNull('/proc/sys/kernel/pid_max') ?? 32_768) / 64;
}

function listPids(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

// The last field of /proc/loadavg; NaN if unreadable, so that no pid is ruled out and `certainlyEmpty` is false.
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

// Splitting at NUL always yields an empty string, so an empty marker would match every environment.
function carriesMarker(pid: number, marker: string | null): boolean {
  if (marker === null || marker === '') return false;
  const environment = readOrNull(`/proc/${pid}/environ`);
  return environment?.split('\0').includes(marker) ?? false;
}

function describe(pid: number): string {
  const commandLine = readOrNull(`/proc/${pid}/cmdline`)?.split('\0').join(' ').trim();
  return commandLine || readOrNull(`/proc/${pid}/comm`)?.trim() || `process ${pid}`;
}

// ENOENT and ESRCH mean that the process is gone; any other error does not, and is thrown.
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

/** The units in which the kernel reports memory and CPU time. */
export interface SystemUnits {
  readonly pageBytes: number;
  readonly ticksPerSecond: number;
}

const fallback: SystemUnits = { pageBytes: 4_096, ticksPerSecond: 100 };
const pageSizeEntry = 6n;
const clockTickEntry = 17n;

let known: SystemUnits | undefined;

/** The units of this machine, from the auxiliary vector (`/proc/self/auxv`). */
export function systemUnits(): SystemUnits {
  known ??= readUnits();
  return known;
}

function readUnits(): SystemUnits {
  try {
    return parseAuxiliaryVector(readFileSync('/proc/self/auxv'));
  } catch {
    return fallback;
  }
}

/** Parses `/proc/self/auxv`: pairs of 64-bit keys and values. */
export function parseAuxiliaryVector(bytes: Buffer): SystemUnits {
  const entries = new Map<bigint, number>();
  for (let at = 0; at + 16 <= bytes.length; at += 16)
    entries.set(bytes.readBigUInt64LE(at), Number(bytes.readBigUInt64LE(at + 8)));
  return {
    pageBytes: entries.get(pageSizeEntry) || fallback.pageBytes,
    ticksPerSecond: entries.get(clockTickEntry) || fallback.ticksPerSecond,
  };
}
