import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { descendantsOf, readOrEmpty, tasksOf } from '../processes/descendants.ts';

/** The file that a command reads its input from. */
export interface InputFile {
  readonly kind: 'pipe' | 'terminal';
  readonly dev: number;
  readonly ino: number;
}

/** The pipe behind a descriptor of ours. */
export function toInputFile(fd: number): InputFile {
  const { dev, ino } = fstatSync(fd);
  return { kind: 'pipe', dev, ino };
}

/** A thread that the kernel lets sleep until there is input, and how often it has slept so far. */
export interface Reader {
  readonly task: number;
  readonly sleeps: string;
}

/**
 * The thread of a process, or of one below it, that is asleep in a system call for which only input from this file is missing; null
 * when there is none, or when this machine does not tell.
 */
export function findReader(root: number, input: InputFile): Reader | null {
  for (const pid of [root, ...descendantsOf(root)]) {
    for (const task of tasksOf(pid)) {
      if (readsFrom(pid, task, input)) return { task, sleeps: sleepsOf(pid, task) };
    }
  }
  return null;
}

/** True when both are the same thread in the same sleep. */
export function isSameSleep(one: Reader | null, other: Reader | null): boolean {
  return one !== null && one.task === other?.task && one.sleeps === other.sleeps;
}

/** What a thread sleeps in, and where its patience stands among the arguments: a number of ms, or where a time is. */
interface Call {
  readonly does: 'read' | 'select' | 'poll' | 'epoll';
  readonly ms?: number;
  readonly time?: { readonly at: number; readonly unitsPerMs: number };
}

const read: Call = { does: 'read' };
const timespec = (at: number) => ({ at, unitsPerMs: 1_000_000 });

// By number of the system call; what is not here is not told of.
const calls: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  x64: {
    0: read,
    19: read,
    7: { does: 'poll', ms: 2 },
    271: { does: 'poll', time: timespec(2) },
    23: { does: 'select', time: { at: 4, unitsPerMs: 1_000 } },
    270: { does: 'select', time: timespec(4) },
    232: { does: 'epoll', ms: 3 },
    281: { does: 'epoll', ms: 3 },
    441: { does: 'epoll', time: timespec(3) },
  },
  arm64: {
    63: read,
    65: read,
    73: { does: 'poll', time: timespec(2) },
    72: { does: 'select', time: timespec(4) },
    22: { does: 'epoll', ms: 3 },
    441: { does: 'epoll', time: timespec(3) },
  },
};

function readsFrom(pid: number, task: number, input: InputFile): boolean {
  const [number = '', ...args] = readOrEmpty(`/proc/${pid}/task/${task}/syscall`).split(' ');
  const call = calls[process.arch]?.[number];
  if (call === undefined || !isPatient(pid, call, args)) return false;
  const [first, second] = [Number(args[0]), Number(args[1])];
  const isInput = (fd: number) => isFile(`/proc/${pid}/fd/${fd}`, input);
  switch (call.does) {
    case 'read':
      return isInput(first);
    // Whoever asks about the first descriptor alone asks about stdin.
    case 'select':
      return first === 1 && isInput(0);
    case 'poll':
      return polledFiles(pid, BigInt(args[0] ?? 0), second).some(isInput);
    case 'epoll':
      return waitsForInputAlone(pid, first, isInput);
  }
}

// Who looks only for a moment whether there is input goes on without it.
const patienceMs = 300;

function isPatient(pid: number, { ms, time }: Call, args: readonly string[]): boolean {
  if (ms !== undefined) {
    const patience = Number(BigInt.asIntN(32, BigInt(args[ms] ?? 0)));
    return patience < 0 || patience >= patienceMs;
  }
  const address = time && BigInt(args[time.at] ?? 0);
  if (!time || address === undefined || address === 0n) return true;
  const value = readMemory(pid, address, 16);
  if (value === null) return false;
  return (
    Number(value.readBigInt64LE(0)) * 1_000 + Number(value.readBigInt64LE(8)) / time.unitsPerMs >= patienceMs
  );
}

const pollEntryBytes = 8;
const mostPolled = 16;
const pollIn = 1;

/** The descriptors that a `poll` waits to read from. */
function polledFiles(pid: number, address: bigint, count: number): readonly number[] {
  const entries = count > mostPolled ? null : readMemory(pid, address, count * pollEntryBytes);
  if (entries === null) return [];
  const all = Array.from({ length: count }, (_, index) => index * pollEntryBytes);
  return all.filter((at) => entries.readInt16LE(at + 4) & pollIn).map((at) => entries.readInt32LE(at));
}

/** What stands in a process's memory; null where we may not look. */
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

// Who also waits for the network serves somebody; it would not call that waiting for input.
function waitsForInputAlone(pid: number, epoll: number, isInput: (fd: number) => boolean): boolean {
  const watched = [
    ...readOrEmpty(`/proc/${pid}/fdinfo/${epoll}`).matchAll(/^tfd:\s*(\d+)\s+events:\s*(\w+)/gm),
  ];
  const read = watched
    .filter(([, , events]) => Number.parseInt(events ?? '', 16) & pollIn)
    .map(([, fd]) => Number(fd));
  return read.some(isInput) && !read.some((fd) => isSocket(`/proc/${pid}/fd/${fd}`));
}

// The device of /dev/tty: whoever opens it gets the terminal that its session has.
const ownTerminal = 0x500;

function isFile(path: string, input: InputFile): boolean {
  try {
    const { dev, ino, rdev } = statSync(path);
    return (dev === input.dev && ino === input.ino) || (input.kind === 'terminal' && rdev === ownTerminal);
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

function sleepsOf(pid: number, task: number): string {
  const status = readOrEmpty(`/proc/${pid}/task/${task}/status`);
  return /^voluntary_ctxt_switches:\s*(\d+)/m.exec(status)?.[1] ?? '';
}
