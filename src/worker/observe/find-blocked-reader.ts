import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { descendantsOf, readOrEmpty, tasksOf } from '../processes/descendants.ts';

/** The file from which a command reads its input, by the fields of `stat` that identify it. */
export interface InputFile {
  readonly kind: 'pipe' | 'terminal';
  readonly dev: number;
  readonly ino: number;
}

/** Identifies the pipe behind one of our descriptors. */
export function toInputFile(fd: number): InputFile {
  const { dev, ino } = fstatSync(fd);
  return { kind: 'pipe', dev, ino };
}

/** A thread that is blocked until there is input, with its `voluntary_ctxt_switches`. */
export interface BlockedReader {
  readonly pid: number;
  readonly task: number;
  readonly switches: string;
  /** True if it was stopped with SIGSTOP, so that it would not read input either. */
  readonly isStopped: boolean;
}

/**
 * Finds a thread, of `root` or its descendants, that is blocked in a system call until `input` is readable; null if there is
 * none, or /proc does not show it.
 */
export function findBlockedReader(root: number, input: InputFile): BlockedReader | null {
  for (const pid of [root, ...descendantsOf(root)]) {
    for (const task of tasksOf(pid)) {
      if (readsFrom(pid, task, input)) return { pid, task, ...describeThread(pid, task) };
    }
  }
  return null;
}

/** The name of a process, which the process itself may have set. */
export function nameOf({ pid }: Pick<BlockedReader, 'pid'>): string {
  return readOrEmpty(`/proc/${pid}/comm`).replace(/\n$/, '');
}

/** True when both are the same thread with equal `switches`: it has not run in between. */
export function isSameBlock(one: BlockedReader | null, other: BlockedReader | null): boolean {
  return one !== null && one.task === other?.task && one.switches === other.switches;
}

/** A blocking system call, and the index of its timeout argument: milliseconds, or a pointer to a time. */
interface Call {
  readonly kind: 'read' | 'select' | 'poll' | 'epoll';
  readonly msAt?: number;
  readonly timeAt?: { readonly at: number; readonly unitsPerMs: number };
}

const read: Call = { kind: 'read' };
const timespec = (at: number) => ({ at, unitsPerMs: 1_000_000 });

// By `process.arch` and system call number; a thread in any other call is not considered blocked on input.
const calls: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  x64: {
    0: read,
    19: read,
    7: { kind: 'poll', msAt: 2 },
    271: { kind: 'poll', timeAt: timespec(2) },
    23: { kind: 'select', timeAt: { at: 4, unitsPerMs: 1_000 } },
    270: { kind: 'select', timeAt: timespec(4) },
    232: { kind: 'epoll', msAt: 3 },
    281: { kind: 'epoll', msAt: 3 },
    441: { kind: 'epoll', timeAt: timespec(3) },
  },
  arm64: {
    63: read,
    65: read,
    73: { kind: 'poll', timeAt: timespec(2) },
    72: { kind: 'select', timeAt: timespec(4) },
    22: { kind: 'epoll', msAt: 3 },
    441: { kind: 'epoll', timeAt: timespec(3) },
  },
};

function readsFrom(pid: number, task: number, input: InputFile): boolean {
  const [number = '', ...args] = readOrEmpty(`/proc/${pid}/task/${task}/syscall`).split(' ');
  const call = calls[process.arch]?.[number];
  if (call === undefined || !isLongWait(pid, call, args)) return false;
  const [first, second] = [Number(args[0]), Number(args[1])];
  const isInput = (fd: number) => hasOpen(pid, fd, input);
  switch (call.kind) {
    case 'read':
      return isInput(first);
    // `select` with nfds 1 waits for descriptor 0, stdin.
    case 'select':
      return first === 1 && isInput(0);
    case 'poll':
      return polledFiles(pid, BigInt(args[0] ?? 0), second).some(isInput);
    case 'epoll':
      return waitsForInputOnly(pid, first, isInput);
  }
}

// With a shorter timeout, `poll` and `select` only check for input, and the program continues without it.
const longWaitMs = 300;

function isLongWait(pid: number, { msAt, timeAt }: Call, args: readonly string[]): boolean {
  if (msAt !== undefined) {
    const timeoutMs = Number(BigInt.asIntN(32, BigInt(args[msAt] ?? 0)));
    return timeoutMs < 0 || timeoutMs >= longWaitMs;
  }
  const address = timeAt && BigInt(args[timeAt.at] ?? 0);
  if (!timeAt || address === undefined || address === 0n) return true;
  const value = readMemory(pid, address, 16);
  if (value === null) return false;
  const [seconds, rest] = [Number(value.readBigInt64LE(0)), Number(value.readBigInt64LE(8))];
  return seconds * 1_000 + rest / timeAt.unitsPerMs >= longWaitMs;
}

const pollEntryBytes = 8;
const maxPolled = 16;
const pollIn = 1;

/** The descriptors that a `poll` waits to read from. */
function polledFiles(pid: number, address: bigint, count: number): readonly number[] {
  const entries = count > maxPolled ? null : readMemory(pid, address, count * pollEntryBytes);
  if (entries === null) return [];
  const all = Array.from({ length: count }, (_, index) => index * pollEntryBytes);
  return all.filter((at) => entries.readInt16LE(at + 4) & pollIn).map((at) => entries.readInt32LE(at));
}

/** Reads /proc/PID/mem; `null` if we may not. */
function readMemory(pid: number, address: bigint, bytes: number): Buffer | null {
  const found = Buffer.alloc(bytes);
  try {
    const memory = openSync(`/proc/${pid}/mem`, 'r');
    try {
      return readSync(memory, found, 0, bytes, address) === bytes ? found : null;
    } finally {
      closeSync(memory);
    }
  } catch {
    return null;
  }
}

// A process whose `epoll` also contains a socket is a server, not a program that waits for input.
function waitsForInputOnly(pid: number, epoll: number, isInput: (fd: number) => boolean): boolean {
  const watched = [
    ...readOrEmpty(`/proc/${pid}/fdinfo/${epoll}`).matchAll(/^tfd:\s*(\d+)\s+events:\s*(\w+)/gm),
  ];
  const read = watched
    .filter(([, , events]) => Number.parseInt(events ?? '', 16) & pollIn)
    .map(([, fd]) => Number(fd));
  return read.some(isInput) && !read.some((fd) => isSocket(`/proc/${pid}/fd/${fd}`));
}

/** True if a descriptor of a process is `input`. */
export function hasOpen(pid: number, fd: number, input: InputFile): boolean {
  return isFile(`/proc/${pid}/fd/${fd}`, input);
}

// Device number of /dev/tty, which is the controlling terminal of the process that opens it.
const devTty = 0x500;

function isFile(path: string, input: InputFile): boolean {
  try {
    const { dev, ino, rdev } = statSync(path);
    return (dev === input.dev && ino === input.ino) || (input.kind === 'terminal' && rdev === devTty);
  } catch {
    return false;
  }
}

function isSocket(path: string): boolean {
  try {
    return statSync(path).isSocket();
  } catch {
    return false;
  }
}

function describeThread(pid: number, task: number): Omit<BlockedReader, 'pid' | 'task'> {
  const status = readOrEmpty(`/proc/${pid}/task/${task}/status`);
  return {
    switches: /^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1] ?? '',
    isStopped: /^State:\s*T/m.test(status),
  };
}
