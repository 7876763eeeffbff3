import { openSync, readdirSync, readFileSync } from 'node:fs';

/** What a child gets for each of its descriptors. */
export type Descriptors = ('ipc' | 'ignore' | number)[];

/**
 * Adds to the descriptors of a child what keeps it from getting more of ours. Node closes its own in every child, but
 * not those that whoever started us left open, such as a client's pipes: these become /dev/null.
 */
export function withoutInherited(stdio: Readonly<Descriptors>, inherited = listInherited()): Descriptors {
  const shielded: Descriptors = [...stdio];
  for (const fd of inherited) {
    while (shielded.length <= fd) shielded.push('ignore');
    if (shielded[fd] === 'ignore' && fd >= firstFree) shielded[fd] = nullDevice();
  }
  return shielded;
}

/** The descriptors that a child would get without being given them. */
export function listInherited(): readonly number[] {
  return [...findInherited(), ...ours];
}

/** Keeps a descriptor of ours from children that others make with it left open; what it returns ends that. */
export function keepToOurselves(fd: number): () => void {
  ours.add(fd);
  return () => void ours.delete(fd);
}

const ours = new Set<number>();
const firstFree = 3;
// A child is given its descriptors one by one, so that a very high one would make every start slow.
const highest = 4_096;
const closedOnExec = 0o2000000;

let found: readonly number[] | undefined;
let device: number | undefined;

/** Looked at once: what was left open was so from the start. */
function findInherited(): readonly number[] {
  found ??= listDescriptors().filter((fd) => fd >= firstFree && fd < highestPossible() && staysOpen(fd));
  return found;
}

// Above its limit a process may have descriptors, but can make none.
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
    return (Number.parseInt(flags, 8) & closedOnExec) === 0;
  } catch {
    return false;
  }
}

function nullDevice(): number {
  device ??= openSync('/dev/null', 'r+');
  return device;
}
