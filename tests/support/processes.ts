import { readdirSync, readFileSync } from 'node:fs';

/** The pids of running processes whose environment or command line contains a text. */
export function processesWith(text: string): number[] {
  const bytes = Buffer.from(text);
  // A zombie has an empty `environ` and `cmdline`, so it never matches.
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid)
    .filter((pid) => ['environ', 'cmdline'].some((file) => readBytes(pid, file).includes(bytes)));
}

/** The zombie children of this process. */
export function zombieChildren(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && isZombie(pid) && parentOf(pid) === process.pid);
}

/** The number of open file descriptors of this process. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

/** The arguments of a process, separated by NUL; empty if it has exited. */
export function commandLine(pid: number): string {
  return read(pid, 'cmdline');
}

function isZombie(pid: number): boolean {
  return /\) [ZX] /.test(read(pid, 'stat'));
}

function parentOf(pid: number): number {
  const stat = read(pid, 'stat');
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
}

function read(pid: number, file: string): string {
  return readBytes(pid, file).toString();
}

function readBytes(pid: number, file: string): Buffer {
  try {
    return readFileSync(`/proc/${pid}/${file}`);
  } catch {
    return Buffer.alloc(0);
  }
}
