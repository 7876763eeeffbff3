import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { descendantsOf, readOrEmpty, tasksOf } from './descendants.ts';

/** The file that a command reads its input from: a pipe by its place on disk, a terminal by its device. */
export type InputFile =
  | { readonly kind: 'pipe'; readonly dev: number; readonly ino: number }
  | { readonly kind: 'terminal'; readonly rdev: number };

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

type Call = 'read' | 'select' | 'poll' | 'epoll';

// Numbers of system calls; other processors are served by the first two tables or not at all.
const calls: Readonly<Record<string, Readonly<Record<string, Call>>>> = {
  x64: {
    0: 'read',
    19: 'read',
    7: 'poll',
    271: 'poll',
    23: 'select',
    270: 'select',
    232: 'epoll',
    281: 'epoll',
    441: 'epoll',
  },
  arm64: { 63: 'read', 65: 'read', 73: 'poll', 72: 'select', 22: 'epoll', 441: 'epoll' },
};

function readsFrom(pid: number, task: number, input: InputFile): boolean {
  const [number = '', first = '', second = ''] = readOrEmpty(`/proc/${pid}/task/${task}/syscall`).split(' ');
  const isInput = (fd: number) => isFile(`/proc/${pid}/fd/${fd}`, input);
  switch (calls[process.arch]?.[number]) {
    case 'read':
      return isInput(Number(first));
    // Whoever asks about the first descriptor alone asks about stdin.
    case 'select':
      return Number(first) === 1 && isInput(0);
    case 'poll':
      return polledFiles(pid, BigInt(first), Number(second)).some(isInput);
    case 'epoll':
      return waitsForInputAlone(pid, Number(first), isInput);
    case undefined:
      return false;
  }
}

const pollEntryBytes = 8;
const mostPolled = 16;
const pollIn = 1;

/** The descriptors that a `poll` waits to read from, as they stand in the process's memory. */
function polledFiles(pid: number, address: bigint, count: number): readonly number[] {
  if (count > mostPolled) return [];
  const entries = Buffer.alloc(count * pollEntryBytes);
  try {
    const memory = openSync(`/proc/${pid}/mem`, 'r');
    try {
      readSync(memory, entries, 0, entries.length, address);
    } finally {
      closeSync(memory);
    }
  } catch {
    return [];
  }
  const all = Array.from({ length: count }, (_, index) => index * pollEntryBytes);
  return all.filter((at) => entries.readInt16LE(at + 4) & pollIn).map((at) => entries.readInt32LE(at));
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

function isFile(path: string, input: InputFile): boolean {
  try {
    const { dev, ino, rdev } = statSync(path);
    return input.kind === 'pipe' ? dev === input.dev && ino === input.ino : rdev === input.rdev;
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
