import { openSync, readdirSync, readFileSync } from 'node:fs';

/** The `stdio` option of a child process: one entry per descriptor. */
export type Descriptors = ('ipc' | 'ignore' | number)[];

/**
 * Extends a child's `stdio` so that it inherits no other descriptors. Node opens its own files with O_CLOEXEC, but
 * descriptors that nacre inherited itself, such as a client's pipes, would stay open: they are replaced by /dev/null.
 */
export function withoutInherited(stdio: Readonly<Descriptors>, inherited = listInherited()): Descriptors {
  const shielded: Descriptors = [...stdio];
  for (const fd of inherited) {
    while (shielded.length <= fd) shielded.push('ignore');
    if (shielded[fd] === 'ignore' && fd >= firstFree) shielded[fd] = nullDevice();
  }
  return shielded;
}

/** The descriptors that a child would inherit although they are not in its `stdio`. */
export function listInherited(): readonly number[] {
  return [...findInherited(), ...ours];
}

/** Replaces `fd`, which was opened without O_CLOEXEC, with /dev/null in every child; returns a function that undoes it. */
export function withholdFromChildren(fd: number): () => void {
  ours.add(fd);
  return () => void ours.delete(fd);
}

const ours = new Set<number>();
const firstFree = 3;
// `stdio` needs an entry for every lower descriptor, so a very high one would make every spawn slow.
const highest = 4_096;
const O_CLOEXEC = 0o2000000;

let found: readonly number[] | undefined;
let device: number | undefined;

// One read is enough: descriptors without O_CLOEXEC were inherited at start-up.
function findInherited(): readonly number[] {
  found ??= listDescriptors().filter((fd) => fd >= firstFree && fd < highestPossible() && staysOpen(fd));
  return found;
}

// Descriptors above RLIMIT_NOFILE may exist, but a process cannot create them, so `stdio` cannot name them.
function highestPossible(): number {
  const limits = readFileSync('/proc/self/limits', 'latin1');
  const [, soft] = /^Max open files\s+(\d+)/m.exec(limits) ?? [];
  return Math.min(highest, Number(soft ?? highest));
}

function listDescriptors(): readonly number[] {
  try {
    return readdirSync('/proc/self/fd').map(Number);
  } catch {
    return [];
  }
}

function staysOpen(fd: number): boolean {
  try {
    const [, flags = ''] = /^flags:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')) ?? [];
    return (Number.parseInt(flags, 8) & O_CLOEXEC) === 0;
  } catch {
    return false;
  }
}

function nullDevice(): number {
  device ??= openSync('/dev/null', 'r+');
  return device;
}
